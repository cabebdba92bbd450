// Sums that take a fast quotient in (lower/contract.h). On hardware a fast quotient is a product with a reciprocal,
// so it is rounded once, together with the sum.
#include "exec/arithmetic/float.h"
#include "exec/arithmetic/special_functions/compiled.h"
#include "machine/launch.h"

namespace flashpath::exec {
namespace {

struct Factors {
  f32 dividend;
  f32 reciprocal;
};

// How far ptxas scales both numbers, so that the reciprocal is neither subnormal nor infinite.
struct Full {
  static f32 scale(f32 divisor) { return std::fabs(divisor) > 0x1p126f ? 0.25f : 1.0f; }
};
struct Approximate {
  static f32 scale(f32) { return 1.0f; }
};

template <class Kind>
Factors factors(f32 dividend, f32 divisor) {
  const f32 scale = special::is_subnormal(divisor) ? 0x1p24f : Kind::scale(divisor);
  return {dividend * scale, special::of_float<special::reciprocal>(divisor * scale)};
}
template <class Kind>
Factors flushed_factors(f32 dividend, f32 divisor) {
  const f32 scale = Kind::scale(divisor);
  return {flushed(flushed(dividend) * scale), special::of_float<special::reciprocal>(divisor * scale)};
}

struct FusedSum {
  f32 operator()(f32 x, f32 y, f32 z) const { return std::fma(x, y, z); }
};

template <class Kind, bool kNegatesQuotient, bool kNegatesAddend>
void run(Warp& warp, const Instruction& i) {
  const f32* a = lanes<f32>(warp, i.a[0]);
  const f32* b = lanes<f32>(warp, i.b[0]);
  const f32* c = lanes<f32>(warp, i.c[0]);
  const bool flushes = i.modifier & kFlushToZero;
  const bool exact = warp.launch->numerics.exact;
  assign<f32>(warp, i, [&](int lane) {
    const f32 addend = operand(kNegatesAddend ? -c[lane] : c[lane], i.modifier);
    const f32 dividend = kNegatesQuotient ? -a[lane] : a[lane];
    if (!exact) {
      const f32 quotient = operand(dividend, i.modifier) / operand(b[lane], i.modifier);
      return result(canonical(quotient + addend), i.modifier);
    }
    const Factors of = flushes ? flushed_factors<Kind>(dividend, b[lane]) : factors<Kind>(dividend, b[lane]);
    f32 sum = FusedSum{}(of.dividend, of.reciprocal, addend);
    if (flushes) sum = without_grown<FusedSum>(sum, of.dividend, of.reciprocal, addend);
    return result(canonical(sum), i.modifier);
  });
}

template <class Kind>
void quotient_sums(Registry& r, const std::string& quotient) {
  for (const char* flags : {"", "*"}) {
    r.add(quotient + ".fma.f32" + flags, &run<Kind, false, false>);
    r.add(quotient + ".fmsub.f32" + flags, &run<Kind, false, true>);
    r.add(quotient + ".fnmadd.f32" + flags, &run<Kind, true, false>);
    r.add(quotient + ".fnmsub.f32" + flags, &run<Kind, true, true>);
  }
}

}  // namespace

void register_quotient_sums(Registry& r) {
  quotient_sums<Full>(r, "div.full");
  quotient_sums<Approximate>(r, "div.approx");
}

}  // namespace flashpath::exec
