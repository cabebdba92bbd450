// ld and st: "ld.global.u8/32.v2" loads pairs of bytes into 32-bit registers.
#include <string>
#include <type_traits>

#include "exec/memory.h"
#include "exec/registry.h"

namespace flashpath::exec {
namespace {

enum class Where { kGlobal, kShared, kLocal, kGeneric };

template <Where kWhere>
using Address = std::conditional_t<kWhere == Where::kShared, u32, u64>;

template <Where kWhere>
std::byte* place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  if constexpr (kWhere == Where::kGlobal) return global_place(warp, i, lane, address, size, write);
  if constexpr (kWhere == Where::kShared) return shared_place(warp, i, lane, address, size, write);
  if constexpr (kWhere == Where::kLocal) return local_place(warp, i, lane, address, size, write);
  return generic_place(warp, i, lane, address, size, write);
}

// Which lanes of a generic access are in which space, for counting.
void count_generic(Warp& warp, const Instruction& i, u64* address, u32 size, bool write) {
  u32 shared = 0;
  u32 local = 0;
  for_lanes(warp.executing, [&](int lane) {
    if (address[lane] - kSharedWindow < kWindowSize) shared |= 1u << lane;
    if (address[lane] - kLocalWindow < kWindowSize) local |= 1u << lane;
  });
  const u32 global = warp.executing & ~(shared | local);
  if (global) count_global(warp, i, address, global, size, write);
  if (shared) count_shared(warp, i, address, shared, size);
}

template <Where kWhere>
void count(Warp& warp, const Instruction& i, u64* address, u32 size, bool write) {
  if (warp.counters == nullptr || warp.executing == 0) return;
  if constexpr (kWhere == Where::kGlobal) count_global(warp, i, address, warp.executing, size, write);
  if constexpr (kWhere == Where::kShared) count_shared(warp, i, address, warp.executing, size);
  if constexpr (kWhere == Where::kGeneric) count_generic(warp, i, address, size, write);
}

// Whether 32 lanes access one piece of memory, in order.
bool contiguous(const Warp& warp, const u64* address, u32 size) {
  if (warp.executing != kAllLanes) return false;
  u64 off = 0;
  for (int lane = 0; lane < kLanes; ++lane) off |= address[lane] ^ (address[0] + static_cast<u64>(lane) * size);
  return off == 0;
}

// T is the type in memory, R the unsigned type of the register's width: integers are extended on the way.
template <Where kWhere, class T, class R, int kVector>
void run_load(Warp& warp, const Instruction& i) {
  constexpr u32 kSize = sizeof(T) * kVector;
  using Extended = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<R>, R>;
  u64 address[kLanes];
  addresses<Address<kWhere>>(warp, i, address);
  check_alignment(warp, i, address, kSize);
  R* d[kVector];
  for (int v = 0; v < kVector; ++v) d[v] = i.dst[v] == kNoRegister ? nullptr : lanes<R>(warp, i.dst[v]);
  const auto load = [&](int lane, const std::byte* from) {
    T value[kVector];
    std::memcpy(value, from, kSize);
    for (int v = 0; v < kVector; ++v) {
      if (d[v] != nullptr) d[v][lane] = static_cast<R>(static_cast<Extended>(value[v]));
    }
  };
  if constexpr (kWhere == Where::kGlobal) {
    const Segment* segment = common_segment(warp, i, address, kSize);
    if (segment != nullptr) {
      const auto host = [segment](u64 at) -> const std::byte* { return segment->host + (at - segment->base); };
      if (kVector == 1 && sizeof(T) == sizeof(R) && contiguous(warp, address, kSize)) {
        std::memcpy(d[0], host(address[0]), kLanes * sizeof(T));
      } else {
        for_lanes(warp.executing, [&](int lane) { load(lane, host(address[lane])); });
      }
      count<kWhere>(warp, i, address, kSize, false);
      return;
    }
  }
  for_lanes(warp.executing, [&](int lane) { load(lane, place<kWhere>(warp, i, lane, address[lane], kSize, false)); });
  count<kWhere>(warp, i, address, kSize, false);
}

template <Where kWhere, class T, class R, int kVector>
void run_store(Warp& warp, const Instruction& i) {
  constexpr u32 kSize = sizeof(T) * kVector;
  u64 address[kLanes];
  addresses<Address<kWhere>>(warp, i, address);
  check_alignment(warp, i, address, kSize);
  const R* source[kVector];
  for (int v = 0; v < kVector; ++v) source[v] = lanes<R>(warp, i.b[v]);
  const auto store = [&](int lane, std::byte* to) {
    T value[kVector];
    for (int v = 0; v < kVector; ++v) value[v] = static_cast<T>(source[v][lane]);
    std::memcpy(to, value, kSize);
  };
  if constexpr (kWhere == Where::kGlobal) {
    const Segment* segment = common_segment(warp, i, address, kSize);
    if (segment != nullptr && segment->writable) {
      const auto host = [segment](u64 at) { return segment->host + (at - segment->base); };
      if (kVector == 1 && sizeof(T) == sizeof(R) && contiguous(warp, address, kSize)) {
        std::memcpy(host(address[0]), source[0], kLanes * sizeof(T));
      } else {
        for_lanes(warp.executing, [&](int lane) { store(lane, host(address[lane])); });
      }
      count<kWhere>(warp, i, address, kSize, true);
      return;
    }
  }
  for_lanes(warp.executing, [&](int lane) { store(lane, place<kWhere>(warp, i, lane, address[lane], kSize, true)); });
  count<kWhere>(warp, i, address, kSize, true);
}

// Kernel parameters are the same for all lanes, at an address known when the kernel was lowered.
template <class T, class R>
void run_load_parameter(Warp& warp, const Instruction& i) {
  using Extended = std::conditional_t<std::is_signed_v<T>, std::make_signed_t<R>, R>;
  T value;
  std::memcpy(&value, warp.launch->parameters.data() + i.immediate, sizeof value);
  const R extended = static_cast<R>(static_cast<Extended>(value));
  assign<R>(warp, i, [=](int) { return extended; });
}

template <Where kWhere, class T, class R>
void all_vectors(Registry& r, const std::string& space, const std::string& type) {
  const std::string name = "." + space + "." + type + "/" + std::to_string(8 * sizeof(R));
  r.add("ld" + name, &run_load<kWhere, T, R, 1>);
  r.add("st" + name, &run_store<kWhere, T, R, 1>);
  r.add("ld" + name + ".v2", &run_load<kWhere, T, R, 2>);
  r.add("st" + name + ".v2", &run_store<kWhere, T, R, 2>);
  if constexpr (sizeof(T) <= 4) {
    r.add("ld" + name + ".v4", &run_load<kWhere, T, R, 4>);
    r.add("st" + name + ".v4", &run_store<kWhere, T, R, 4>);
  }
}

template <class T, class R>
void all_spaces(Registry& r, const std::string& type) {
  all_vectors<Where::kGlobal, T, R>(r, "global", type);
  all_vectors<Where::kShared, T, R>(r, "shared", type);
  all_vectors<Where::kLocal, T, R>(r, "local", type);
  all_vectors<Where::kGeneric, T, R>(r, "generic", type);
  r.add("ld.param." + type + "/" + std::to_string(8 * sizeof(R)), &run_load_parameter<T, R>);
}

}  // namespace

// Bits without a sign are unsigned here: b32, u32 and f32 move alike.
void register_memory(Registry& r) {
  all_spaces<u8, u16>(r, "u8");
  all_spaces<u8, u32>(r, "u8");
  all_spaces<u8, u64>(r, "u8");
  all_spaces<s8, u16>(r, "s8");
  all_spaces<s8, u32>(r, "s8");
  all_spaces<s8, u64>(r, "s8");
  all_spaces<u16, u16>(r, "u16");
  all_spaces<u16, u32>(r, "u16");
  all_spaces<u16, u64>(r, "u16");
  all_spaces<s16, u32>(r, "s16");
  all_spaces<s16, u64>(r, "s16");
  all_spaces<u32, u32>(r, "u32");
  all_spaces<u32, u64>(r, "u32");
  all_spaces<s32, u64>(r, "s32");
  all_spaces<u64, u64>(r, "u64");
}

}  // namespace flashpath::exec
