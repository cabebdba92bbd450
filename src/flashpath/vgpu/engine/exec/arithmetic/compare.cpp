// Comparisons: setp makes a predicate of them, set a number, testp asks about one operand.
#include <cmath>
#include <string>
#include <utility>

#include "exec/arithmetic/elementwise.h"
#include "exec/arithmetic/float.h"
#include "exec/arithmetic/half.h"
#include "program/modifiers.h"

namespace flashpath::exec {
namespace {

u32 joined(Warp& warp, const Instruction& i, u32 bits) {
  const u32 join = i.modifier & kJoinMask;
  if (join == 0) return bits;
  const u32 other = i.modifier & kNegateOther ? ~mask(warp, i.c[0]) : mask(warp, i.c[0]);
  if (join == kJoinAnd) return bits & other;
  if (join == kJoinOr) return bits | other;
  return bits ^ other;
}

void store_predicates(Warp& warp, const Instruction& i, u32 first, u32 second) {
  first = joined(warp, i, first);
  second = joined(warp, i, second);
  if (i.dst[1] != kNoRegister) assign_mask(warp, i.dst[1], second);
  if (i.dst[0] != kNoRegister) assign_mask(warp, i.dst[0], first);
}

// `F` compares what is in the registers.
template <class T, class F>
u32 compared(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  u32 holds = 0;
  for (int lane = 0; lane < kLanes; ++lane) holds |= u32(F{}(a[lane], b[lane])) << lane;
  return holds;
}

// The second destination gets the opposite comparison, joined alike.
template <class T, class F>
void run_setp(Warp& warp, const Instruction& i) {
  const u32 holds = compared<T, F>(warp, i);
  store_predicates(warp, i, holds, ~holds);
}

// True is what `immediate` holds, false is zero.
template <class D, class T, class F>
void run_set(Warp& warp, const Instruction& i) {
  const u32 holds = joined(warp, i, compared<T, F>(warp, i));
  const D truth = static_cast<D>(i.immediate);
  assign<D>(warp, i, [=](int lane) { return holds >> lane & 1 ? truth : D(0); });
}

template <class T, class F>
void compare(Registry& r, const std::string& name, F) {
  r.add("setp." + name, &run_setp<T, F>);
  r.add("set.b16." + name, &run_set<u16, T, F>);
  r.add("set.b32." + name, &run_set<u32, T, F>);
}

template <class T>
void equality(Registry& r, const std::string& type) {
  compare<T>(r, "eq." + type, [](T x, T y) { return x == y; });
  compare<T>(r, "ne." + type, [](T x, T y) { return x != y; });
}

template <class T>
void order(Registry& r, const std::string& type) {
  equality<T>(r, type);
  compare<T>(r, "lt." + type, [](T x, T y) { return x < y; });
  compare<T>(r, "le." + type, [](T x, T y) { return x <= y; });
  compare<T>(r, "gt." + type, [](T x, T y) { return x > y; });
  compare<T>(r, "ge." + type, [](T x, T y) { return x >= y; });
}

// All relations of floats, given to `add`. The plain ones are false with a NaN, those that end in u are true.
template <class F, class Add>
void float_relations(Add add) {
  add("eq.", [](F x, F y) { return x == y; });
  add("ne.", [](F x, F y) { return x < y || x > y; });
  add("lt.", [](F x, F y) { return x < y; });
  add("le.", [](F x, F y) { return x <= y; });
  add("gt.", [](F x, F y) { return x > y; });
  add("ge.", [](F x, F y) { return x >= y; });
  add("equ.", [](F x, F y) { return !(x < y || x > y); });
  add("neu.", [](F x, F y) { return !(x == y); });
  add("ltu.", [](F x, F y) { return !(x >= y); });
  add("leu.", [](F x, F y) { return !(x > y); });
  add("gtu.", [](F x, F y) { return !(x <= y); });
  add("geu.", [](F x, F y) { return !(x < y); });
  add("num.", [](F x, F y) { return x == x && y == y; });
  add("nan.", [](F x, F y) { return x != x || y != y; });
}

// `Value` turns what is in the register into the number compared.
template <class F, class T, class Value>
void float_order(Registry& r, const std::string& type, Value) {
  float_relations<F>([&]<class Relation>(const std::string& name, Relation) {
    compare<T>(r, name + type, [](T x, T y) { return Relation{}(Value{}(x), Value{}(y)); });
  });
}

// ---- Packed halves -------------------------------------------------------------------------------------

template <class F>
std::pair<u32, u32> compared_halves(Warp& warp, const Instruction& i) {
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  u32 low = 0;
  u32 high = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    low |= u32(F{}(u16(a[lane]), u16(b[lane]))) << lane;
    high |= u32(F{}(u16(a[lane] >> 16), u16(b[lane] >> 16))) << lane;
  }
  return {low, high};
}

template <class F>
void run_setp_halves(Warp& warp, const Instruction& i) {
  const auto [low, high] = compared_halves<F>(warp, i);
  store_predicates(warp, i, low, high);
}

template <class F>
void run_set_halves(Warp& warp, const Instruction& i) {
  const auto [low, high] = compared_halves<F>(warp, i);
  const u32 joined_low = joined(warp, i, low);
  const u32 joined_high = joined(warp, i, high);
  const u32 truth = static_cast<u32>(i.immediate);
  assign<u32>(warp, i, [=](int lane) {
    return (joined_low >> lane & 1 ? truth : 0) | (joined_high >> lane & 1 ? truth << 16 : 0);
  });
}

template <class Value>
void packed_order(Registry& r, const std::string& type, Value) {
  float_relations<f32>([&]<class Relation>(const std::string& name, Relation) {
    const auto halves = [](u16 x, u16 y) { return Relation{}(Value{}(x), Value{}(y)); };
    r.add("setp." + name + type, &run_setp_halves<decltype(halves)>);
    r.add("set.b32." + name + type, &run_set_halves<decltype(halves)>);
  });
}

// ---- testp ---------------------------------------------------------------------------------------------

template <class T, class F>
void property(Registry& r, const std::string& name, F) {
  r.add("testp." + name, [](Warp& warp, const Instruction& i) {
    const T* a = lanes<T>(warp, i.a[0]);
    u32 holds = 0;
    for (int lane = 0; lane < kLanes; ++lane) holds |= u32(F{}(a[lane])) << lane;
    assign_mask(warp, i.dst[0], holds);
  });
}

template <class T>
void properties(Registry& r, const std::string& type) {
  property<T>(r, "finite." + type, [](T x) { return std::isfinite(x); });
  property<T>(r, "infinite." + type, [](T x) { return std::isinf(x); });
  property<T>(r, "number." + type, [](T x) { return x == x; });
  property<T>(r, "notanumber." + type, [](T x) { return x != x; });
  property<T>(r, "normal." + type, [](T x) { return std::isnormal(x); });
  property<T>(r, "subnormal." + type, [](T x) { return std::fpclassify(x) == FP_SUBNORMAL; });
}

}  // namespace

void register_compare(Registry& r) {
  order<u16>(r, "u16");
  order<s16>(r, "s16");
  order<u32>(r, "u32");
  order<s32>(r, "s32");
  order<u64>(r, "u64");
  order<s64>(r, "s64");
  equality<u16>(r, "b16");
  equality<u32>(r, "b32");
  equality<u64>(r, "b64");
  float_order<f32, f32>(r, "f32", [](f32 x) { return x; });
  float_order<f32, f32>(r, "ftz.f32", [](f32 x) { return flushed(x); });
  float_order<f64, f64>(r, "f64", [](f64 x) { return x; });
  float_order<f32, u16>(r, "f16", [](u16 x) { return f16_to_f32(x); });
  float_order<f32, u16>(r, "ftz.f16", [](u16 x) { return f16_to_f32(Fp16::flushed(x)); });
  float_order<f32, u16>(r, "bf16", [](u16 x) { return bf16_to_f32(x); });
  packed_order(r, "f16x2", [](u16 x) { return f16_to_f32(x); });
  packed_order(r, "ftz.f16x2", [](u16 x) { return f16_to_f32(Fp16::flushed(x)); });
  packed_order(r, "bf16x2", [](u16 x) { return bf16_to_f32(x); });
  properties<f32>(r, "f32");
  properties<f64>(r, "f64");
}

}  // namespace flashpath::exec
