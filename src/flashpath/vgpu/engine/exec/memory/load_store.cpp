// ld and st: "ld.global.u8/32.v2" loads pairs of bytes into 32-bit registers.
#include <string>
#include <type_traits>

#include "exec/memory/addresses.h"
#include "exec/memory/lane_copies.h"
#include "exec/operations.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

// Register k of a vector: eight of them are four in one field and four in the next.
u32 part(const u32* first, const u32* second, int k) { return k < 4 ? first[k] : second[k - 4]; }

template <class T>
inline constexpr bool kIsSigned = std::is_same_v<T, s8> || std::is_same_v<T, s16> || std::is_same_v<T, s32>;

// A value of memory in a register: integers are extended on the way.
template <class R, class T>
inline R extended(T value) {
  if constexpr (kIsSigned<T>) return static_cast<R>(static_cast<s64>(value));
  return static_cast<R>(value);
}

// T is the type in memory, R the unsigned type of the register's width.
template <Where kWhere, class T, class R, int kVector>
void run_load(Warp& warp, const Instruction& i) {
  constexpr u32 kSize = sizeof(T) * kVector;
  Places places;
  resolve<kWhere, kSize>(warp, i, Use::kRead, places);
  R* d[kVector];
  for (int v = 0; v < kVector; ++v) d[v] = lanes<R>(warp, part(i.dst, i.b, v));
  T value[kVector];
  if (places.shape == Shape::kRow) {
    if constexpr (kVector == 1 && sizeof(T) == sizeof(R)) {
      copy_row<kLanes * sizeof(T)>(reinterpret_cast<std::byte*>(d[0]), places.first);
    } else {
      for (int lane = 0; lane < kLanes; ++lane) {
        std::memcpy(value, places.first + static_cast<u32>(lane) * kSize, kSize);
        for (int v = 0; v < kVector; ++v) d[v][lane] = extended<R>(value[v]);
      }
    }
  } else if (places.shape == Shape::kOne) {
    std::memcpy(value, places.first, kSize);
    for (int v = 0; v < kVector; ++v) {
      for (int lane = 0; lane < kLanes; ++lane) d[v][lane] = extended<R>(value[v]);
    }
  } else {
    const auto load = [&](int lane, const std::byte* from) {
      std::memcpy(value, from, kSize);
      for (int v = 0; v < kVector; ++v) d[v][lane] = extended<R>(value[v]);
    };
    constexpr bool kWords = kVector == 1 && sizeof(T) == 4 && sizeof(R) == 4 && kWhere == Where::kShared;
    if (kWords && places.shape == Shape::kNear && warp.executing == kAllLanes) {
      gather_words(reinterpret_cast<u32*>(d[0]), places.first, places.offset);
    } else if (places.shape == Shape::kNear) {
      for_lanes(warp.executing, [&](int lane) { load(lane, places.first + places.offset[lane]); });
    } else {
      for_lanes(warp.executing, [&](int lane) { load(lane, places.at[lane]); });
    }
  }
}

template <Where kWhere, class T, class R, int kVector>
void run_store(Warp& warp, const Instruction& i) {
  constexpr u32 kSize = sizeof(T) * kVector;
  Places places;
  resolve<kWhere, kSize>(warp, i, Use::kWrite, places);
  const R* source[kVector];
  for (int v = 0; v < kVector; ++v) source[v] = lanes<R>(warp, part(i.b, i.c, v));
  const auto store = [&](int lane, std::byte* to) {
    T value[kVector];
    for (int v = 0; v < kVector; ++v) value[v] = static_cast<T>(source[v][lane]);
    std::memcpy(to, value, kSize);
  };
  if (sanitize::has_suspects(warp)) sanitize::settle(warp, i, store);
  if (places.shape == Shape::kRow) {
    if constexpr (kVector == 1 && sizeof(T) == sizeof(R)) {
      copy_row<kLanes * sizeof(T)>(places.first, reinterpret_cast<const std::byte*>(source[0]));
    } else {
      for (int lane = 0; lane < kLanes; ++lane) store(lane, places.first + static_cast<u32>(lane) * kSize);
    }
  } else if (places.shape == Shape::kOne) {
    store(kLanes - 1, places.first);  // the last lane's value stays
  } else if (places.shape == Shape::kNear) {
    for_lanes(warp.executing, [&](int lane) { store(lane, places.first + places.offset[lane]); });
  } else {
    for_lanes(warp.executing, [&](int lane) { store(lane, places.at[lane]); });
  }
}

// Kernel parameters are the same for all lanes, at an address known when the kernel was lowered.
template <class T, class R>
void run_load_parameter(Warp& warp, const Instruction& i) {
  T value;
  std::memcpy(&value, warp.launch->parameters.data() + i.immediate, sizeof value);
  const R all = extended<R>(value);
  assign<R>(warp, i, [=](int) { return all; });
}

template <Where kWhere, class T, class R, int kVector>
void vector_of(Registry& r, const std::string& name) {
  const std::string vector = kVector == 1 ? "" : ".v" + std::to_string(kVector);
  r.add("ld" + name + vector, &run_load<kWhere, T, R, kVector>);
  // What is stored is cut off: the sign of the type is no matter.
  if constexpr (!kIsSigned<T>) r.add("st" + name + vector, &run_store<kWhere, T, R, kVector>);
}

// The widest access is 16 bytes; of global memory, and so of generic addresses, 32.
template <Where kWhere, class T, class R>
void all_vectors(Registry& r, const std::string& space, const std::string& type) {
  const std::string name = "." + space + "." + type + "/" + std::to_string(8 * sizeof(R));
  constexpr std::size_t kWidest = kWhere == Where::kGlobal || kWhere == Where::kGeneric ? 32 : 16;
  vector_of<kWhere, T, R, 1>(r, name);
  if constexpr (2 * sizeof(T) <= 16) vector_of<kWhere, T, R, 2>(r, name);
  if constexpr (4 * sizeof(T) <= kWidest) vector_of<kWhere, T, R, 4>(r, name);
  if constexpr (sizeof(T) == 4 && sizeof(R) == 4 && kWidest == 32) vector_of<kWhere, T, R, 8>(r, name);
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
  all_spaces<u128, u128>(r, "u128");
}

}  // namespace flashpath::exec
