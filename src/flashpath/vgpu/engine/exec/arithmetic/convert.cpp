// cvt: between integers of any width, and between integers and floats.
//
// A PTX register may be wider than the type that an instruction reads from or writes to it: the low bits are
// read, and a written integer is extended by its sign or by zeros. So handlers are made per pair of register
// widths ("cvt.integer/32.16"), and the types of the integers travel in the modifier; the usual conversions
// have handlers of their own.
#include <bit>
#include <cmath>
#include <string>
#include <type_traits>

#include "exec/arithmetic/elementwise.h"
#include "exec/arithmetic/formats.h"
#include "program/modifiers.h"

namespace flashpath::exec {
namespace {

template <class T>
constexpr const char* kName = "";
template <> constexpr const char* kName<u16> = "u16";
template <> constexpr const char* kName<s16> = "s16";
template <> constexpr const char* kName<u32> = "u32";
template <> constexpr const char* kName<s32> = "s32";
template <> constexpr const char* kName<u64> = "u64";
template <> constexpr const char* kName<s64> = "s64";

template <class Register>
std::string width() { return std::to_string(8 * sizeof(Register)); }

// The low bits of a register as a 64-bit integer.
u64 widened(u64 value, IntegerType type) {
  const int unused = 64 - static_cast<int>(type.bits);
  if (type.is_signed) return static_cast<u64>(static_cast<s64>(value << unused) >> unused);
  return value << unused >> unused;
}

u64 most(IntegerType type) { return ~u64(0) >> (64 - type.bits + (type.is_signed ? 1 : 0)); }
u64 least(IntegerType type) { return type.is_signed ? ~most(type) : 0; }

u64 saturated(u64 value, IntegerType from, IntegerType to) {
  const bool negative = from.is_signed && static_cast<s64>(value) < 0;
  if (negative) return to.is_signed && static_cast<s64>(value) >= static_cast<s64>(least(to)) ? value : least(to);
  return value > most(to) ? most(to) : value;
}

template <class DR, class AR>
void run_integers(Warp& warp, const Instruction& i) {
  const AR* a = lanes<AR>(warp, i.a[0]);
  const IntegerType from = source_type(i.modifier);
  const IntegerType to = result_type(i.modifier);
  if (i.modifier & kSaturate) {
    assign<DR>(warp, i, [=](int lane) { return static_cast<DR>(saturated(widened(a[lane], from), from, to)); });
  } else {
    assign<DR>(warp, i, [=](int lane) { return static_cast<DR>(widened(widened(a[lane], from), to)); });
  }
}

template <class DR>
void integers(Registry& r) {
  r.add("cvt.integer/" + width<DR>() + ".16", &run_integers<DR, u16>);
  r.add("cvt.integer/" + width<DR>() + ".32", &run_integers<DR, u32>);
  r.add("cvt.integer/" + width<DR>() + ".64", &run_integers<DR, u64>);
}

// The usual case, types as wide as their registers, in a form that vectorises.
template <class D, class A>
void natural(Registry& r) {
  unary<D, A>(r, std::string("cvt.") + kName<D> + "." + kName<A> + "/" + width<D>() + "." + width<A>(),
              [](A x) { return static_cast<D>(x); });
}

template <class D>
void natural_from_all(Registry& r) {
  natural<D, u16>(r);
  natural<D, s16>(r);
  natural<D, u32>(r);
  natural<D, s32>(r);
  natural<D, u64>(r);
  natural<D, s64>(r);
}

// ---- Between integers and floats -----------------------------------------------------------------------

// Out-of-range values become the nearest that fits. A NaN becomes 0, or the topmost bit alone where 64-bit
// types take part.
template <class DR, class Float>
void run_float_to_integer(Warp& warp, const Instruction& i) {
  const auto* a = lanes<typename Float::Register>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  const IntegerType to = result_type(modifier);
  const bool is_wide = std::is_same_v<Float, Double> || to.bits == 64;
  const u64 not_a_number = is_wide ? widened(u64(1) << (to.bits - 1), to) : 0;
  // The bounds as doubles: 2^63 and 2^64 are exact, their predecessors would not be.
  const f64 beyond = std::ldexp(1.0, static_cast<int>(to.bits) - (to.is_signed ? 1 : 0));
  const f64 lowest = to.is_signed ? -beyond : 0.0;
  assign<DR>(warp, i, [=](int lane) -> DR {
    const f64 value = rounded_to_integer(widened_operand<Float>(a[lane], modifier), modifier);
    if (value != value) return static_cast<DR>(not_a_number);
    if (value >= beyond) return static_cast<DR>(most(to));
    if (value < lowest) return static_cast<DR>(least(to));
    return static_cast<DR>(to.is_signed ? static_cast<u64>(static_cast<s64>(value)) : static_cast<u64>(value));
  });
}

template <class Float>
void to_integers(Registry& r) {
  r.add(std::string("cvt.integer.") + Float::kType + "/16", &run_float_to_integer<u16, Float>);
  r.add(std::string("cvt.integer.") + Float::kType + "/32", &run_float_to_integer<u32, Float>);
  r.add(std::string("cvt.integer.") + Float::kType + "/64", &run_float_to_integer<u64, Float>);
}

// An integer as a double, rounded to odd: rounding it once more, to a format of fewer digits, gives what
// rounding the integer itself would.
f64 to_odd(u64 magnitude) {
  const int unused = std::countl_zero(magnitude | 1);
  if (unused >= 11) return static_cast<f64>(magnitude);
  const u64 kept = magnitude >> (11 - unused);
  const bool lost = (kept << (11 - unused)) != magnitude;
  return std::ldexp(static_cast<f64>(kept | (lost ? 1 : 0)), 11 - unused);
}

// The widest format has no wider one to pass through: its rounding is the processor's.
f64 to_double(u64 value, bool is_signed, u32 modifier) {
  const RoundingScope rounding(modifier);
  const volatile u64 source = value;  // read after the mode is set
  const volatile f64 target = is_signed ? static_cast<f64>(static_cast<s64>(source)) : static_cast<f64>(source);
  return target;
}

template <class Float, class AR>
void run_integer_to_float(Warp& warp, const Instruction& i) {
  const AR* a = lanes<AR>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  const IntegerType from = source_type(modifier);
  assign<typename Float::Register>(warp, i, [=](int lane) {
    const u64 value = widened(a[lane], from);
    if constexpr (std::is_same_v<Float, Double>) {
      return Float::narrow(to_double(value, from.is_signed, modifier), modifier);
    } else {
      const bool negative = from.is_signed && static_cast<s64>(value) < 0;
      return Float::narrow(negative ? -to_odd(0 - value) : to_odd(value), modifier);
    }
  });
}

template <class Float>
void from_integers(Registry& r) {
  const std::string name = std::string("cvt.") + Float::kType + ".integer/";
  r.add(name + "16", &run_integer_to_float<Float, u16>);
  r.add(name + "32", &run_integer_to_float<Float, u32>);
  r.add(name + "64", &run_integer_to_float<Float, u64>);
}

template <class A>
void natural_to_floats(Registry& r) {
  unary<f32, A>(r, std::string("cvt.f32.") + kName<A>, [](A x) { return static_cast<f32>(x); });
  unary<f64, A>(r, std::string("cvt.f64.") + kName<A>, [](A x) { return static_cast<f64>(x); });
}

// ---- cvt.pack ------------------------------------------------------------------------------------------

// Two integers, saturated: the first stands above the second, both above the low bits of c.
void run_pack(Warp& warp, const Instruction& i) {
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32* b = lanes<u32>(warp, i.b[0]);
  const u32* c = lanes<u32>(warp, i.c[0]);
  const IntegerType from{32, true};
  const IntegerType to = result_type(i.modifier);
  assign<u32>(warp, i, [=](int lane) {
    const auto part = [&](u32 value) {
      return static_cast<u32>(saturated(widened(value, from), from, to)) & ((1u << to.bits) - 1);
    };
    const u32 pair = part(a[lane]) << to.bits | part(b[lane]);
    return to.bits == 16 ? pair : c[lane] << (2 * to.bits) | pair;
  });
}

}  // namespace

void register_convert(Registry& r) {
  integers<u16>(r);
  integers<u32>(r);
  integers<u64>(r);
  natural_from_all<u16>(r);
  natural_from_all<s16>(r);
  natural_from_all<u32>(r);
  natural_from_all<s32>(r);
  natural_from_all<u64>(r);
  natural_from_all<s64>(r);
  to_integers<Single>(r);
  to_integers<Double>(r);
  to_integers<Half>(r);
  to_integers<Brain>(r);
  from_integers<Single>(r);
  from_integers<Double>(r);
  from_integers<Half>(r);
  from_integers<Brain>(r);
  natural_to_floats<u16>(r);
  natural_to_floats<s16>(r);
  natural_to_floats<u32>(r);
  natural_to_floats<s32>(r);
  natural_to_floats<u64>(r);
  natural_to_floats<s64>(r);
  r.add("cvt.pack", &run_pack);
}

}  // namespace flashpath::exec
