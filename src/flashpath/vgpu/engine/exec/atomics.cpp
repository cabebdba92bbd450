// atom and red: read, change, write, one lane after the other. Blocks run in order, so nothing interferes.
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>

#include "exec/memory.h"
#include "exec/registry.h"

namespace flashpath::exec {
namespace {

template <bool kShared>
std::byte* place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size) {
  if constexpr (kShared) return shared_place(warp, i, lane, address, size, true);
  return generic_place(warp, i, lane, address, size, true);  // global addresses are generic ones
}

template <bool kShared, class T, class F>
void run_atomic(Warp& warp, const Instruction& i) {
  u64 address[kLanes];
  addresses<std::conditional_t<kShared, u32, u64>>(warp, i, address);
  check_alignment(warp, i, address, sizeof(T));
  const T* b = lanes<T>(warp, i.b[0]);
  const T* c = i.c[0] == kNoRegister ? b : lanes<T>(warp, i.c[0]);
  T* d = i.dst[0] == kNoRegister ? nullptr : lanes<T>(warp, i.dst[0]);  // red has no result
  for_lanes(warp.executing, [&](int lane) {
    std::byte* at = place<kShared>(warp, i, lane, address[lane], sizeof(T));
    T before;
    std::memcpy(&before, at, sizeof before);
    const T after = F{}(before, b[lane], c[lane]);
    std::memcpy(at, &after, sizeof after);
    if (d != nullptr) d[lane] = before;
  });
  if (warp.counters == nullptr || warp.executing == 0) return;
  if constexpr (kShared) {
    count_shared(warp, i, address, warp.executing, sizeof(T));
  } else if (address[std::countr_zero(warp.executing)] - kSharedWindow < kWindowSize) {
    count_shared(warp, i, address, warp.executing, sizeof(T));
  } else {
    count_global(warp, i, address, warp.executing, sizeof(T), true);
  }
}

template <class T, class F>
void atomic(Registry& r, const std::string& name, F) {
  r.add("atom.shared." + name, &run_atomic<true, T, F>);
  r.add("atom.global." + name, &run_atomic<false, T, F>);
}

template <class T>
void whole_numbers(Registry& r, const std::string& type) {
  using U = std::make_unsigned_t<T>;
  atomic<T>(r, "add." + type, [](T x, T y, T) { return static_cast<T>(U(x) + U(y)); });
  atomic<T>(r, "min." + type, [](T x, T y, T) { return x < y ? x : y; });
  atomic<T>(r, "max." + type, [](T x, T y, T) { return x > y ? x : y; });
}

template <class T>
void bits(Registry& r, const std::string& type) {
  atomic<T>(r, "and." + type, [](T x, T y, T) { return x & y; });
  atomic<T>(r, "or." + type, [](T x, T y, T) { return x | y; });
  atomic<T>(r, "xor." + type, [](T x, T y, T) { return x ^ y; });
  atomic<T>(r, "exch." + type, [](T, T y, T) { return y; });
  atomic<T>(r, "cas." + type, [](T x, T y, T z) { return x == y ? z : x; });
}

}  // namespace

void register_atomics(Registry& r) {
  whole_numbers<u32>(r, "u32");
  whole_numbers<s32>(r, "s32");
  whole_numbers<u64>(r, "u64");
  whole_numbers<s64>(r, "s64");
  bits<u32>(r, "b32");
  bits<u64>(r, "b64");
  bits<u16>(r, "b16");
  atomic<f32>(r, "add.f32", [](f32 x, f32 y, f32) { return x + y; });
  atomic<f64>(r, "add.f64", [](f64 x, f64 y, f64) { return x + y; });
  atomic<u32>(r, "inc.u32", [](u32 x, u32 y, u32) { return x >= y ? 0u : x + 1; });
  atomic<u32>(r, "dec.u32", [](u32 x, u32 y, u32) { return x == 0 || x > y ? y : x - 1; });
}

}  // namespace flashpath::exec
