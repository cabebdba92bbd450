// Arithmetic on f16 and bf16, alone and in pairs.
//
// A float has more than twice the digits of both formats, so one operation in float and one rounding are
// exact; a fused multiply-add needs double, and rounding to odd.
#include "exec/arithmetic/half.h"

#include <string>

#include "exec/arithmetic/elementwise.h"
#include "exec/arithmetic/float.h"
#include "program/modifiers.h"

namespace flashpath::exec {
namespace {

template <class H>
u16 operand_bits(u16 bits, u32 modifier) { return modifier & kFlushToZero ? H::flushed(bits) : bits; }

template <class H>
u16 result_bits(u16 bits, u32 modifier) {
  if (modifier & kFlushToZero) bits = H::flushed(bits);
  const bool is_nan = H::is_nan(bits);
  const bool negative = bits >> 15;
  if (modifier & kRelu) return negative && !is_nan ? 0 : bits;
  if (modifier & kSaturate) return is_nan || negative ? 0 : bits > H::kOne ? H::kOne : bits;
  return bits;
}

// Both halves of a pair, by what is done to one.
template <class F>
u32 both(u32 x, F f) { return u32(f(u16(x))) | u32(f(u16(x >> 16))) << 16; }
template <class F>
u32 both(u32 x, u32 y, F f) { return u32(f(u16(x), u16(y))) | u32(f(u16(x >> 16), u16(y >> 16))) << 16; }
template <class F>
u32 both(u32 x, u32 y, u32 z, F f) {
  return u32(f(u16(x), u16(y), u16(z))) | u32(f(u16(x >> 16), u16(y >> 16), u16(z >> 16))) << 16;
}

// An operation's four handlers: alone and in pairs, without flags and (named with a `*`) with them. `F` works
// on bits.
template <class H, class F>
void unary_half(Registry& r, const std::string& name, F) {
  unary<u16, u16>(r, name, [](u16 x) { return F{}(x); });
  unary<u32, u32>(r, name + "x2", [](u32 x) { return both(x, F{}); });
  const auto flagged = [](u16 x, u32 m) { return result_bits<H>(F{}(operand_bits<H>(x, m)), m); };
  using Flagged = decltype(flagged);
  r.add(name + "*", [](Warp& warp, const Instruction& i) {
    const u16* a = lanes<u16>(warp, i.a[0]);
    assign<u16>(warp, i, [&](int lane) { return Flagged{}(a[lane], i.modifier); });
  });
  r.add(name + "x2*", [](Warp& warp, const Instruction& i) {
    const u32* a = lanes<u32>(warp, i.a[0]);
    assign<u32>(warp, i, [&](int lane) { return both(a[lane], [&](u16 x) { return Flagged{}(x, i.modifier); }); });
  });
}

template <class H, class F>
void binary_half(Registry& r, const std::string& name, F) {
  binary<u16, u16, u16>(r, name, [](u16 x, u16 y) { return F{}(x, y); });
  binary<u32, u32, u32>(r, name + "x2", [](u32 x, u32 y) { return both(x, y, F{}); });
  const auto flagged = [](u16 x, u16 y, u32 m) {
    return result_bits<H>(F{}(operand_bits<H>(x, m), operand_bits<H>(y, m)), m);
  };
  using Flagged = decltype(flagged);
  r.add(name + "*", [](Warp& warp, const Instruction& i) {
    const u16* a = lanes<u16>(warp, i.a[0]);
    const u16* b = lanes<u16>(warp, i.b[0]);
    assign<u16>(warp, i, [&](int lane) { return Flagged{}(a[lane], b[lane], i.modifier); });
  });
  r.add(name + "x2*", [](Warp& warp, const Instruction& i) {
    const u32* a = lanes<u32>(warp, i.a[0]);
    const u32* b = lanes<u32>(warp, i.b[0]);
    assign<u32>(warp, i, [&](int lane) {
      return both(a[lane], b[lane], [&](u16 x, u16 y) { return Flagged{}(x, y, i.modifier); });
    });
  });
}

template <class H, class F>
void ternary_half(Registry& r, const std::string& name, F) {
  ternary<u16, u16, u16, u16>(r, name, [](u16 x, u16 y, u16 z) { return F{}(x, y, z); });
  ternary<u32, u32, u32, u32>(r, name + "x2", [](u32 x, u32 y, u32 z) { return both(x, y, z, F{}); });
  const auto flagged = [](u16 x, u16 y, u16 z, u32 m) {
    return result_bits<H>(F{}(operand_bits<H>(x, m), operand_bits<H>(y, m), operand_bits<H>(z, m)), m);
  };
  using Flagged = decltype(flagged);
  r.add(name + "*", [](Warp& warp, const Instruction& i) {
    const u16* a = lanes<u16>(warp, i.a[0]);
    const u16* b = lanes<u16>(warp, i.b[0]);
    const u16* c = lanes<u16>(warp, i.c[0]);
    assign<u16>(warp, i, [&](int lane) { return Flagged{}(a[lane], b[lane], c[lane], i.modifier); });
  });
  r.add(name + "x2*", [](Warp& warp, const Instruction& i) {
    const u32* a = lanes<u32>(warp, i.a[0]);
    const u32* b = lanes<u32>(warp, i.b[0]);
    const u32* c = lanes<u32>(warp, i.c[0]);
    assign<u32>(warp, i, [&](int lane) {
      return both(a[lane], b[lane], c[lane], [&](u16 x, u16 y, u16 z) { return Flagged{}(x, y, z, i.modifier); });
    });
  });
}

template <class H>
u16 fused(u16 x, u16 y, u16 z) {
  return H::narrow(add_to_odd(f64(H::widen(x)) * f64(H::widen(y)), f64(H::widen(z))));
}

inline u16 negated(u16 bits) { return bits ^ 0x8000; }

template <class H>
void minimum_and_maximum(Registry& r, const std::string& type) {
  const auto forms = [&]<class F>(const std::string& name, F) {
    const auto number = [](u16 x, u16 y) { return H::narrow(F{}(H::widen(x), H::widen(y))); };
    const auto propagating = [](u16 x, u16 y) {
      return H::is_nan(x) || H::is_nan(y) ? u16(0x7fff) : H::narrow(F{}(H::widen(x), H::widen(y)));
    };
    const auto magnitude = [](u16 x, u16 y) -> u16 {
      const u16 larger_or_smaller = H::narrow(F{}(H::widen(x & 0x7fff), H::widen(y & 0x7fff)));
      return H::is_nan(larger_or_smaller) ? 0x7fff : larger_or_smaller | ((x ^ y) & 0x8000);
    };
    const auto propagating_magnitude = [](u16 x, u16 y) {
      return H::is_nan(x) || H::is_nan(y) ? u16(0x7fff) : decltype(magnitude){}(x, y);
    };
    binary_half<H>(r, name + "." + type, number);
    binary_half<H>(r, name + ".NaN." + type, propagating);
    binary_half<H>(r, name + ".xorsign.abs." + type, magnitude);
    binary_half<H>(r, name + ".NaN.xorsign.abs." + type, propagating_magnitude);
  };
  forms("min", [](f32 x, f32 y) { return smaller(x, y); });
  forms("max", [](f32 x, f32 y) { return larger(x, y); });
}

template <class H>
void arithmetic(Registry& r, const std::string& type) {
  binary_half<H>(r, "add." + type, [](u16 x, u16 y) { return H::narrow(H::widen(x) + H::widen(y)); });
  binary_half<H>(r, "sub." + type, [](u16 x, u16 y) { return H::narrow(H::widen(x) - H::widen(y)); });
  binary_half<H>(r, "mul." + type, [](u16 x, u16 y) { return H::narrow(H::widen(x) * H::widen(y)); });
  ternary_half<H>(r, "fma." + type, [](u16 x, u16 y, u16 z) { return fused<H>(x, y, z); });
  ternary_half<H>(r, "fmsub." + type, [](u16 x, u16 y, u16 z) { return fused<H>(x, y, negated(z)); });
  ternary_half<H>(r, "fnmadd." + type, [](u16 x, u16 y, u16 z) { return fused<H>(negated(x), y, z); });
  ternary_half<H>(r, "fnmsub." + type, [](u16 x, u16 y, u16 z) { return fused<H>(negated(x), y, negated(z)); });
  minimum_and_maximum<H>(r, type);
  unary_half<H>(r, "neg." + type, [](u16 x) { return H::is_nan(x) ? u16(0x7fff) : negated(x); });
  unary_half<H>(r, "abs." + type, [](u16 x) { return H::is_nan(x) ? u16(0x7fff) : u16(x & 0x7fff); });
}

}  // namespace

void register_half(Registry& r) {
  arithmetic<Fp16>(r, "f16");
  arithmetic<Bf16>(r, "bf16");
}

}  // namespace flashpath::exec
