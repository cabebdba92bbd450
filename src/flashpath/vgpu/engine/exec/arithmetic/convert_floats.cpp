// cvt from float to float: all pairs of formats, pairs of values in one register, the 8-bit formats and tf32.
#include <algorithm>
#include <cmath>
#include <string>

#include "exec/arithmetic/elementwise.h"
#include "exec/arithmetic/formats.h"

namespace flashpath::exec {
namespace {

template <class To, class From>
void run_general(Warp& warp, const Instruction& i) {
  const auto* a = lanes<typename From::Register>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  assign<typename To::Register>(
      warp, i, [=](int lane) { return To::narrow(widened_operand<From>(a[lane], modifier), modifier); });
}

// To an integral value of the same type.
template <class Float>
void run_to_integral(Warp& warp, const Instruction& i) {
  const auto* a = lanes<typename Float::Register>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  assign<typename Float::Register>(warp, i, [=](int lane) {
    const f64 value = rounded_to_integer(widened_operand<Float>(a[lane], modifier), modifier);
    const auto narrowed = Float::narrow(value, modifier & ~kRoundingMask);
    if constexpr (std::is_same_v<Float, Single>) return canonical(narrowed);
    return narrowed;
  });
}

template <class To, class From>
std::string name() { return std::string("cvt.") + To::kType + "." + From::kType; }

// Both forms by the general way: with flags, and (the same) without.
template <class To, class From>
void general(Registry& r) {
  r.add(name<To, From>(), &run_general<To, From>);
  r.add(name<To, From>() + "*", &run_general<To, From>);
}

// The plain form by a way that vectorises.
template <class To, class From, class F>
void usual(Registry& r, F f) {
  unary<typename To::Register, typename From::Register>(r, name<To, From>(), f);
  r.add(name<To, From>() + "*", &run_general<To, From>);
}

// ---- Two values in a register ---------------------------------------------------------------------------

template <class To>
void run_two_floats(Warp& warp, const Instruction& i) {
  const f32* high = lanes<f32>(warp, i.a[0]);
  const f32* low = lanes<f32>(warp, i.b[0]);
  const u32 modifier = i.modifier;
  assign<u32>(warp, i, [=](int lane) {
    return u32(To::narrow(high[lane], modifier)) << 16 | To::narrow(low[lane], modifier);
  });
}

template <class H>
void run_two_floats_plainly(Warp& warp, const Instruction& i) {
  const f32* high = lanes<f32>(warp, i.a[0]);
  const f32* low = lanes<f32>(warp, i.b[0]);
  assign<u32>(warp, i, [=](int lane) { return u32(H::narrow(high[lane])) << 16 | H::narrow(low[lane]); });
}

// ---- Eight bits -----------------------------------------------------------------------------------------

// A value that the format has, as its bits; `bias` is that of the exponent.
u8 encoded(f64 value, const Format& format, int bias) {
  const u8 sign = std::signbit(value) ? 0x80 : 0;
  const f64 magnitude = std::fabs(value);
  const int fraction = format.digits - 1;
  if (magnitude < std::ldexp(1.0, format.least_exponent)) {
    return sign | static_cast<u8>(std::ldexp(magnitude, fraction - format.least_exponent));
  }
  const int exponent = std::ilogb(magnitude);
  const int digits = static_cast<int>(std::ldexp(magnitude, fraction - exponent));  // with the leading one
  return sign | static_cast<u8>(((exponent + bias - 1) << fraction) + digits);
}

struct E4m3 {
  static u8 narrow(f64 value, u32 modifier) {
    return value == value ? encoded(rounded_to(value, kE4m3Format, modifier), kE4m3Format, 7) : 0x7f;
  }
  // An f16 has the same digits and more; its exponent is 8 larger.
  static f32 widen(u8 bits) {
    if ((bits & 0x7f) == 0x7f) return std::numeric_limits<f32>::quiet_NaN();
    return f16_to_f32(static_cast<u16>((bits & 0x80) << 8 | (bits & 0x7f) << 7)) * 256.0f;
  }
};
struct E5m2 {
  static u8 narrow(f64 value, u32 modifier) {
    return value == value ? encoded(rounded_to(value, kE5m2Format, modifier), kE5m2Format, 15) : 0x7f;
  }
  static f32 widen(u8 bits) { return f16_to_f32(static_cast<u16>(bits << 8)); }  // the upper byte of an f16
};

template <class F8>
void run_bytes_from_floats(Warp& warp, const Instruction& i) {
  const f32* high = lanes<f32>(warp, i.a[0]);
  const f32* low = lanes<f32>(warp, i.b[0]);
  const u32 modifier = i.modifier;
  assign<u16>(warp, i, [=](int lane) {
    return static_cast<u16>(F8::narrow(high[lane], modifier) << 8 | F8::narrow(low[lane], modifier));
  });
}

template <class F8>
void run_bytes_from_halves(Warp& warp, const Instruction& i) {
  const u32* a = lanes<u32>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  assign<u16>(warp, i, [=](int lane) {
    const auto byte = [&](u16 half) { return F8::narrow(f16_to_f32(half), modifier); };
    return static_cast<u16>(byte(u16(a[lane] >> 16)) << 8 | byte(u16(a[lane])));
  });
}

template <class F8>
void run_halves_from_bytes(Warp& warp, const Instruction& i) {
  const u16* a = lanes<u16>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  assign<u32>(warp, i, [=](int lane) {
    const auto half = [&](u8 byte) { return Half::narrow(F8::widen(byte), modifier); };
    return u32(half(u8(a[lane] >> 8))) << 16 | half(u8(a[lane]));
  });
}

template <class F8>
void eight_bits(Registry& r, const std::string& type) {
  r.add("cvt." + type + ".f32", &run_bytes_from_floats<F8>);
  r.add("cvt." + type + ".f16x2", &run_bytes_from_halves<F8>);
  r.add("cvt.f16x2." + type, &run_halves_from_bytes<F8>);
}

// tf32: an f32 whose 13 last bits are zero. With .rna a NaN only loses them, and may become infinite.
f32 to_tensor_float(f32 x, u32 modifier) {
  constexpr u32 kKept = ~0x1fffu;
  if (x == x) return static_cast<f32>(rounded_to(x, kTensorFormat, modifier));
  return std::bit_cast<f32>((modifier & kTiesAway ? std::bit_cast<u32>(x) : 0x7fffffffu) & kKept);
}

void run_tensor_float(Warp& warp, const Instruction& i) {
  const f32* a = lanes<f32>(warp, i.a[0]);
  const u32 modifier = i.modifier;
  assign<f32>(warp, i, [=](int lane) { return to_tensor_float(a[lane], modifier); });
}

}  // namespace

void register_convert_floats(Registry& r) {
  usual<Single, Single>(r, [](f32 x) { return x; });
  usual<Double, Single>(r, [](f32 x) { return f64(x); });
  usual<Single, Double>(r, [](f64 x) { return static_cast<f32>(x); });
  usual<Single, Half>(r, [](u16 x) { return canonical(f16_to_f32(x)); });
  usual<Single, Brain>(r, [](u16 x) { return bf16_to_f32(x); });
  usual<Half, Single>(r, [](f32 x) { return Fp16::narrow(x); });
  usual<Brain, Single>(r, [](f32 x) { return Bf16::narrow(x); });
  general<Double, Double>(r);
  general<Double, Half>(r);
  general<Double, Brain>(r);
  general<Half, Double>(r);
  general<Half, Half>(r);
  general<Half, Brain>(r);
  general<Brain, Double>(r);
  general<Brain, Half>(r);
  general<Brain, Brain>(r);
  r.add("cvt.integral.f32.f32", &run_to_integral<Single>);
  r.add("cvt.integral.f64.f64", &run_to_integral<Double>);
  r.add("cvt.integral.f16.f16", &run_to_integral<Half>);
  r.add("cvt.integral.bf16.bf16", &run_to_integral<Brain>);
  r.add("cvt.f16x2.f32", &run_two_floats_plainly<Fp16>);
  r.add("cvt.bf16x2.f32", &run_two_floats_plainly<Bf16>);
  r.add("cvt.f16x2.f32*", &run_two_floats<Half>);
  r.add("cvt.bf16x2.f32*", &run_two_floats<Brain>);
  eight_bits<E4m3>(r, "e4m3x2");
  eight_bits<E5m2>(r, "e5m2x2");
  r.add("cvt.tf32.f32", &run_tensor_float);
  r.add("cvt.tf32.f32*", &run_tensor_float);
}

}  // namespace flashpath::exec
