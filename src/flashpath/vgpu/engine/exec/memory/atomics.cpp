// atom and red: read, change, write, one lane after the other. Blocks may run on several threads of the host,
// so that changes of global memory are atomic there too; shared memory is touched by one thread only.
#include <bit>
#include <cmath>
#include <mutex>
#include <string>
#include <type_traits>

#include "exec/arithmetic/half.h"
#include "exec/memory/addresses.h"
#include "exec/operations.h"

namespace flashpath::exec {
namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, u16, std::conditional_t<sizeof(T) == 4, u32, u64>>;

template <class T, class F>
T modify(std::byte* at, T x, T y, bool& changed) {
  T before;
  std::memcpy(&before, at, sizeof before);
  const T after = F{}(before, x, y);
  changed |= std::memcmp(&before, &after, sizeof after) != 0;
  std::memcpy(at, &after, sizeof after);
  return before;
}

// 16 bytes: few processors change them at once, and not where an array lies anyhow.
std::mutex& wide_lock() {
  static std::mutex lock;
  return lock;
}

template <class T, class F>
T modify_atomically(std::byte* at, T x, T y, bool& changed) {
  if constexpr (sizeof(T) == 16) {
    const std::lock_guard<std::mutex> guard(wide_lock());
    return modify<T, F>(at, x, y, changed);
  } else {
    using U = Bits<T>;
    U* word = reinterpret_cast<U*>(at);
    U before = __atomic_load_n(word, __ATOMIC_RELAXED);
    U after;
    do {
      after = std::bit_cast<U>(F{}(std::bit_cast<T>(before), x, y));
    } while (!__atomic_compare_exchange_n(word, &before, after, true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    changed |= after != before;
    return std::bit_cast<T>(before);
  }
}

// kVector > 1: each element for itself, as PTX has it.
template <Where kWhere, class T, int kVector, class F>
void run_atomic(Warp& warp, const Instruction& i) {
  constexpr u32 kSize = sizeof(T) * kVector;
  Places places;
  resolve<kWhere, kSize>(warp, i, Use::kAtomic, places);
  for_lanes(warp.executing, [&](int lane) {
    std::byte* at = places.of(lane, kSize);
    for (int v = 0; v < kVector; ++v) {
      std::byte* element = at + static_cast<u32>(v) * sizeof(T);
      const T x = lanes<T>(warp, v < 4 ? i.b[v] : i.c[v - 4])[lane];
      const T y = kVector > 1 || i.c[0] == kNoRegister ? x : lanes<T>(warp, i.c[0])[lane];
      const T before = kWhere == Where::kShared ? modify<T, F>(element, x, y, warp.changed)
                                                : modify_atomically<T, F>(element, x, y, warp.changed);
      const u32 d = v < 4 ? i.dst[v] : kNoRegister;  // red has no result, and alone has eight elements
      if (d != kNoRegister) lanes<T>(warp, d)[lane] = before;
    }
  });
}

template <class T, class F>
void atomic(Registry& r, const std::string& name, F) {
  r.add("atom.shared." + name, &run_atomic<Where::kShared, T, 1, F>);
  r.add("atom.global." + name, &run_atomic<Where::kGlobal, T, 1, F>);
  r.add("atom.generic." + name, &run_atomic<Where::kGeneric, T, 1, F>);
}

template <class T, int kVector, class F>
void vector(Registry& r, const std::string& name, F) {
  r.add("atom.global." + name + ".v" + std::to_string(kVector), &run_atomic<Where::kGlobal, T, kVector, F>);
  r.add("atom.generic." + name + ".v" + std::to_string(kVector), &run_atomic<Where::kGeneric, T, kVector, F>);
}

template <class T>
void whole_numbers(Registry& r, const std::string& type) {
  using U = std::make_unsigned_t<T>;
  if (type != "s64") atomic<T>(r, "add." + type, [](T x, T y, T) { return static_cast<T>(U(x) + U(y)); });
  atomic<T>(r, "min." + type, [](T x, T y, T) { return x < y ? x : y; });
  atomic<T>(r, "max." + type, [](T x, T y, T) { return x > y ? x : y; });
}

template <class T>
void exchanges(Registry& r, const std::string& type) {
  atomic<T>(r, "exch." + type, [](T, T y, T) { return y; });
  atomic<T>(r, "cas." + type, [](T x, T y, T z) { return x == y ? z : x; });
}

template <class T>
void bits(Registry& r, const std::string& type) {
  atomic<T>(r, "and." + type, [](T x, T y, T) { return x & y; });
  atomic<T>(r, "or." + type, [](T x, T y, T) { return x | y; });
  atomic<T>(r, "xor." + type, [](T x, T y, T) { return x ^ y; });
  exchanges<T>(r, type);
}

f32 flushed(f32 x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

struct Add32 {
  f32 operator()(f32 x, f32 y, f32) const { return x + y; }
};
// The units beside global memory flush subnormal numbers, those beside shared memory do not.
struct FlushingAdd32 {
  f32 operator()(f32 x, f32 y, f32) const { return flushed(flushed(x) + flushed(y)); }
};

struct Half {
  static f32 widen(u16 bits) { return f16_to_f32(bits); }
  static u16 narrow(f32 value) { return value != value ? u16(0x7fff) : f32_to_f16(value); }
};
struct Brain {
  static f32 widen(u16 bits) { return bf16_to_f32(bits); }
  static u16 narrow(f32 value) { return f32_to_bf16(value); }
};

// The sum of two such numbers, rounded to f32 first, is rounded once: f32 has twice their digits and more.
template <class Number>
struct Add16 {
  u16 operator()(u16 x, u16 y, u16) const { return Number::narrow(Number::widen(x) + Number::widen(y)); }
};
// A number wins over NaN, and -0 is less than +0.
template <class Number, bool kMax>
struct Extreme16 {
  u16 operator()(u16 x, u16 y, u16) const {
    const f32 a = Number::widen(x);
    const f32 b = Number::widen(y);
    if (a != a) return b != b ? u16(0x7fff) : y;
    if (b != b) return x;
    if (a == b) return (kMax ? std::signbit(a) : std::signbit(b)) ? y : x;
    return (a < b) != kMax ? x : y;
  }
};
// Two 16-bit numbers in a register.
template <class F>
struct Packed {
  u32 operator()(u32 x, u32 y, u32) const {
    const u32 low = F{}(static_cast<u16>(x), static_cast<u16>(y), 0);
    const u32 high = F{}(static_cast<u16>(x >> 16), static_cast<u16>(y >> 16), 0);
    return low | high << 16;
  }
};

template <class F>
void vectors_of_16_bits(Registry& r, const std::string& name) {
  vector<u16, 2>(r, name, F{});
  vector<u16, 4>(r, name, F{});
  vector<u16, 8>(r, name, F{});
  vector<u32, 2>(r, name + "x2", Packed<F>{});
  vector<u32, 4>(r, name + "x2", Packed<F>{});
}

template <class Number>
void halves(Registry& r, const std::string& type) {
  atomic<u16>(r, "add." + type, Add16<Number>{});
  atomic<u32>(r, "add." + type + "x2", Packed<Add16<Number>>{});
  vectors_of_16_bits<Add16<Number>>(r, "add." + type);
  vectors_of_16_bits<Extreme16<Number, false>>(r, "min." + type);
  vectors_of_16_bits<Extreme16<Number, true>>(r, "max." + type);
}

}  // namespace

void register_atomics(Registry& r) {
  whole_numbers<u32>(r, "u32");
  whole_numbers<s32>(r, "s32");
  whole_numbers<u64>(r, "u64");
  whole_numbers<s64>(r, "s64");
  bits<u32>(r, "b32");
  bits<u64>(r, "b64");
  atomic<u16>(r, "cas.b16", [](u16 x, u16 y, u16 z) { return x == y ? z : x; });
  exchanges<u128>(r, "b128");
  atomic<u32>(r, "inc.u32", [](u32 x, u32 y, u32) { return x >= y ? 0u : x + 1; });
  atomic<u32>(r, "dec.u32", [](u32 x, u32 y, u32) { return x == 0 || x > y ? y : x - 1; });
  r.add("atom.shared.add.f32", &run_atomic<Where::kShared, f32, 1, Add32>);
  r.add("atom.global.add.f32", &run_atomic<Where::kGlobal, f32, 1, FlushingAdd32>);
  r.add("atom.generic.add.f32", &run_atomic<Where::kGeneric, f32, 1, FlushingAdd32>);
  vector<f32, 2>(r, "add.f32", FlushingAdd32{});
  vector<f32, 4>(r, "add.f32", FlushingAdd32{});
  atomic<f64>(r, "add.f64", [](f64 x, f64 y, f64) { return x + y; });
  halves<Half>(r, "f16");
  halves<Brain>(r, "bf16");
}

}  // namespace flashpath::exec
