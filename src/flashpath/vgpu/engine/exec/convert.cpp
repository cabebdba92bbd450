// cvt: between integers of any width, between integers and floats, between floats.
//
// A PTX register may be wider than the type that an instruction reads from or writes to it: the low bits are
// read, and a written integer is extended by its sign or by zeros. So handlers are made per pair of register
// widths ("cvt.integer/32.16"), and the types of the integers travel in the modifier; the usual conversions
// have handlers of their own.
#include <cfenv>
#include <cmath>
#include <string>
#include <type_traits>

#include "exec/elementwise.h"
#include "exec/half.h"
#include "exec/modifiers.h"

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

// ---- Floats as the registers hold them -----------------------------------------------------------------

struct Single {
  using Register = f32;
  static constexpr const char* kType = "f32";
  static f64 widen(f32 x) { return x; }
};
struct Double {
  using Register = f64;
  static constexpr const char* kType = "f64";
  static f64 widen(f64 x) { return x; }
};
struct Half {
  using Register = u16;
  static constexpr const char* kType = "f16";
  static f64 widen(u16 x) { return f16_to_f32(x); }
};
struct Brain {
  using Register = u16;
  static constexpr const char* kType = "bf16";
  static f64 widen(u16 x) { return bf16_to_f32(x); }
};

f64 rounded_to_integer(f64 value, u32 modifier) {
  switch (modifier & kRoundingMask) {
    case kRoundZero: return std::trunc(value);
    case kRoundDown: return std::floor(value);
    case kRoundUp: return std::ceil(value);
    default: return std::nearbyint(value);
  }
}

f64 flushed_if_asked(f64 value, u32 modifier) {
  return (modifier & kFlushToZero) && std::fabs(value) < 0x1p-126 ? std::copysign(0.0, value) : value;
}

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
    const f64 value = rounded_to_integer(flushed_if_asked(Float::widen(a[lane]), modifier), modifier);
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

// A 64-bit integer is narrowed to f32 in one step; through double it would be rounded twice.
template <class T, class A>
T rounded(A value, u32 modifier) {
  static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  if ((modifier & kRoundingMask) == kRoundNearest) return static_cast<T>(value);
  std::fesetround(kModes[modifier & kRoundingMask]);
  volatile A source = value;  // read after the mode is set
  volatile T target = static_cast<T>(source);
  std::fesetround(FE_TONEAREST);
  return target;
}

template <class T, class AR>
void run_integer_to_float(Warp& warp, const Instruction& i) {
  const AR* a = lanes<AR>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  const IntegerType from = source_type(modifier);
  assign<T>(warp, i, [=](int lane) {
    const u64 value = widened(a[lane], from);
    return from.is_signed ? rounded<T>(static_cast<s64>(value), modifier) : rounded<T>(value, modifier);
  });
}

template <class AR>
void run_integer_to_half(Warp& warp, const Instruction& i) {
  const AR* a = lanes<AR>(warp, i.a[0]);
  const IntegerType from = source_type(i.modifier);
  assign<u16>(warp, i, [=](int lane) {
    const u64 value = widened(a[lane], from);
    return f64_to_f16(from.is_signed ? static_cast<f64>(static_cast<s64>(value)) : static_cast<f64>(value));
  });
}

template <class AR>
void integer_to_floats(Registry& r) {
  r.add("cvt.f32.integer/" + width<AR>(), &run_integer_to_float<f32, AR>);
  r.add("cvt.f64.integer/" + width<AR>(), &run_integer_to_float<f64, AR>);
  r.add("cvt.f16.integer/" + width<AR>(), &run_integer_to_half<AR>);
}

// ---- Float to float ------------------------------------------------------------------------------------

f32 finished(f32 value, u32 modifier) {
  if ((modifier & kFlushToZero) && std::fabs(value) < 0x1p-126f) value = std::copysign(0.0f, value);
  if (modifier & kSaturate) return value > 0 ? std::fmin(value, 1.0f) : 0.0f;
  return value == value ? value : std::bit_cast<f32>(0x7fffffffu);
}

u16 to_half(f32 value, u32 modifier) {
  if ((modifier & kRelu) && !(value > 0)) value = value == value ? 0.0f : value;
  if (modifier & kSaturate) value = value > 0 ? std::fmin(value, 1.0f) : 0.0f;
  return value == value ? f32_to_f16(value) : 0x7fff;
}

u16 to_brain(f32 value, u32 modifier) {
  if ((modifier & kRelu) && !(value > 0)) value = value == value ? 0.0f : value;
  return f32_to_bf16(value);
}

template <class D, class A, class F>
void converting(Registry& r, const std::string& name, F) {
  r.add(name, [](Warp& warp, const Instruction& i) {
    const A* a = lanes<A>(warp, i.a[0]);
    const u32 modifier = i.modifier;
    assign<D>(warp, i, [=](int lane) { return F{}(a[lane], modifier); });
  });
}

template <class F>
void packing(Registry& r, const std::string& name, F) {
  r.add(name, [](Warp& warp, const Instruction& i) {
    const f32* high = lanes<f32>(warp, i.a[0]);
    const f32* low = lanes<f32>(warp, i.b[0]);
    const u32 modifier = i.modifier;
    assign<u32>(warp, i, [=](int lane) {
      return u32(F{}(high[lane], modifier)) << 16 | F{}(low[lane], modifier);
    });
  });
}

// cvt.rni.f32.f32 and its kind: to an integral value of the same type.
template <class T>
void run_to_integral(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  assign<T>(warp, i, [=](int lane) {
    return static_cast<T>(rounded_to_integer(flushed_if_asked(a[lane], modifier), modifier));
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
  integer_to_floats<u16>(r);
  integer_to_floats<u32>(r);
  integer_to_floats<u64>(r);
  unary<f32, s32>(r, "cvt.f32.s32", [](s32 x) { return static_cast<f32>(x); });
  unary<f64, s32>(r, "cvt.f64.s32", [](s32 x) { return static_cast<f64>(x); });
  converting<f32, f32>(r, "cvt.f32.f32", [](f32 x, u32 m) { return finished(x, m); });
  converting<f64, f32>(r, "cvt.f64.f32", [](f32 x, u32 m) { return f64(finished(x, m)); });
  converting<f32, f64>(r, "cvt.f32.f64", [](f64 x, u32 m) { return finished(rounded<f32>(x, m), m); });
  converting<f32, u16>(r, "cvt.f32.f16", [](u16 x, u32 m) { return finished(f16_to_f32(x), m); });
  converting<f32, u16>(r, "cvt.f32.bf16", [](u16 x, u32 m) { return finished(bf16_to_f32(x), m); });
  converting<f64, u16>(r, "cvt.f64.f16", [](u16 x, u32) { return f64(f16_to_f32(x)); });
  converting<u16, f32>(r, "cvt.f16.f32", [](f32 x, u32 m) { return to_half(x, m); });
  converting<u16, f32>(r, "cvt.bf16.f32", [](f32 x, u32 m) { return to_brain(x, m); });
  converting<u16, f64>(r, "cvt.f16.f64", [](f64 x, u32) { return x == x ? f64_to_f16(x) : u16(0x7fff); });
  packing(r, "cvt.f16x2.f32", [](f32 x, u32 m) { return to_half(x, m); });
  packing(r, "cvt.bf16x2.f32", [](f32 x, u32 m) { return to_brain(x, m); });
  r.add("cvt.integral.f32.f32", &run_to_integral<f32>);
  r.add("cvt.integral.f64.f64", &run_to_integral<f64>);
}

}  // namespace flashpath::exec
