// The instructions that only promise to be near the true result. Here they are as good as double precision
// makes them; the bits that hardware gives differ in the last places, within the bounds of the PTX ISA.
#include <cmath>

#include "exec/float.h"

namespace flashpath::exec {
namespace {

// Above 2^126 the reciprocal of a divisor is subnormal, and div.approx takes it for zero.
f32 divided(f32 x, f32 y) {
  const f32 magnitude = std::fabs(y);
  if (magnitude > 0x1p126f && std::isfinite(y)) return x * std::copysign(0.0f, y);
  return x / y;
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 see and give the upper word of a double only.
f64 upper_word(f64 value) { return std::bit_cast<f64>(std::bit_cast<u64>(value) & 0xffffffff00000000ull); }
f64 coarse(f64 value) {
  value = flushed(value);
  if (value != value) return std::bit_cast<f64>(0x7fffffff00000000ull);
  if (std::isinf(value)) return value;
  return upper_word(std::bit_cast<f64>(std::bit_cast<u64>(value) + 0x80000000ull));  // to the nearest
}

template <class F>
void single(Registry& r, const std::string& name, F) {
  unary_float<f32>(r, name + ".approx.f32", [](f32 x) { return static_cast<f32>(F{}(f64(x))); });
}

}  // namespace

void register_approximate(Registry& r) {
  single(r, "rcp", [](f64 x) { return 1.0 / x; });
  single(r, "sqrt", [](f64 x) { return std::sqrt(x); });
  single(r, "rsqrt", [](f64 x) { return 1.0 / std::sqrt(x); });
  single(r, "ex2", [](f64 x) { return std::exp2(x); });
  single(r, "lg2", [](f64 x) { return std::log2(x); });
  single(r, "sin", [](f64 x) { return std::sin(x); });
  single(r, "cos", [](f64 x) { return std::cos(x); });
  single(r, "tanh", [](f64 x) { return std::tanh(x); });
  binary_float<f32>(r, "div.approx.f32", [](f32 x, f32 y) { return divided(x, y); });
  binary_float<f32>(r, "div.full.f32", [](f32 x, f32 y) { return x / y; });
  unary<f64, f64>(r, "rsqrt.approx.f64", [](f64 x) { return canonical(1.0 / std::sqrt(x)); });
  unary<f64, f64>(r, "rcp.approx.ftz.f64", [](f64 x) { return coarse(1.0 / upper_word(flushed(x))); });
  unary<f64, f64>(r, "rsqrt.approx.ftz.f64", [](f64 x) { return coarse(1.0 / std::sqrt(upper_word(flushed(x)))); });
}

}  // namespace flashpath::exec
