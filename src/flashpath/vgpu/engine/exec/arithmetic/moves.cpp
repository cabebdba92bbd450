// Moves, packing, selections, and the spaces of addresses.
#include <string>

#include "exec/arithmetic/elementwise.h"
#include "exec/arithmetic/float.h"

namespace flashpath::exec {
namespace {

template <class T>
void run_select(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  const u32 chosen = mask(warp, i.c[0]);
  assign<T>(warp, i, [=](int lane) { return (chosen >> lane) & 1 ? a[lane] : b[lane]; });
}

template <class T>
void with_type(Registry& r, const std::string& type) {
  unary<T, T>(r, "mov." + type, [](T x) { return x; });
  r.add("selp." + type, &run_select<T>);
  ternary<T, T, T, s32>(r, "slct." + type + ".s32", [](T x, T y, s32 by) { return by >= 0 ? x : y; });
  ternary<T, T, T, f32>(r, "slct." + type + ".f32", [](T x, T y, f32 by) { return by >= 0 ? x : y; });
  ternary<T, T, T, f32>(r, "slct." + type + ".ftz.f32", [](T x, T y, f32 by) { return flushed(by) >= 0 ? x : y; });
}

// `Place` is the register that holds a part: 8-bit ones are kept in 16 bits.
template <class Part, class Place, class Whole>
void run_pack(Warp& warp, const Instruction& i) {
  constexpr int kParts = sizeof(Whole) / sizeof(Part);
  const Place* part[kParts];
  for (int k = 0; k < kParts; ++k) part[k] = lanes<Place>(warp, i.a[k]);
  assign<Whole>(warp, i, [&](int lane) {
    Whole whole = 0;
    for (int k = 0; k < kParts; ++k) whole |= Whole(Part(part[k][lane])) << (8 * sizeof(Part) * k);
    return whole;
  });
}

template <class Part, class Place, class Whole>
void run_unpack(Warp& warp, const Instruction& i) {
  const Whole* whole = lanes<Whole>(warp, i.a[0]);
  for_lanes(warp.executing, [&](int lane) {
    const Whole value = whole[lane];  // before a part of it is overwritten
    for (int k = 0; k < int(sizeof(Whole) / sizeof(Part)); ++k) {
      lanes<Place>(warp, i.dst[k])[lane] = Part(value >> (8 * sizeof(Part) * k));
    }
  });
}

template <class Part, class Place, class Whole>
void packing(Registry& r, const std::string& name) {
  r.add("pack." + name, &run_pack<Part, Place, Whole>);
  r.add("unpack." + name, &run_unpack<Part, Place, Whole>);
}

constexpr u64 kConstantsSize = kParametersBase - kConstantsBase;
constexpr u64 kParametersSize = 32 * 1024;  // the most that a kernel has

bool in_window(u64 address, u64 first, u64 size) { return address - first < size; }
bool in_shared(u64 address) { return in_window(address, kSharedWindow, kWindowSize); }
bool in_local(u64 address) { return in_window(address, kLocalWindow, kWindowSize); }
bool in_parameters(u64 address) { return in_window(address, kParametersBase, kParametersSize); }
bool in_constants(u64 address) { return in_window(address, kConstantsBase, kConstantsSize); }

template <class F>
void space(Registry& r, const std::string& name, F) {
  r.add("isspacep." + name, [](Warp& warp, const Instruction& i) {
    const u64* address = lanes<u64>(warp, i.a[0]);
    u32 inside = 0;
    for (int lane = 0; lane < kLanes; ++lane) inside |= u32(F{}(address[lane])) << lane;
    assign_mask(warp, i.dst[0], inside);
  });
}

}  // namespace

void register_moves(Registry& r) {
  with_type<u16>(r, "b16");
  with_type<u32>(r, "b32");
  with_type<u64>(r, "b64");
  unary<u128, u128>(r, "mov.b128", [](u128 x) { return x; });
  packing<u8, u16, u16>(r, "b8.b16");
  packing<u8, u16, u32>(r, "b8.b32");
  packing<u16, u16, u32>(r, "b16.b32");
  packing<u16, u16, u64>(r, "b16.b64");
  packing<u32, u32, u64>(r, "b32.b64");
  packing<u32, u32, u128>(r, "b32.b128");
  packing<u64, u64, u128>(r, "b64.b128");
  space(r, "shared", [](u64 address) { return in_shared(address); });
  space(r, "local", [](u64 address) { return in_local(address); });
  space(r, "const", [](u64 address) { return in_constants(address); });
  space(r, "param", [](u64 address) { return in_parameters(address); });
  space(r, "global", [](u64 address) {
    return !in_shared(address) && !in_local(address) && !in_constants(address) && !in_parameters(address);
  });
}

}  // namespace flashpath::exec
