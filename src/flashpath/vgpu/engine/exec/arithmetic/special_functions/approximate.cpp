// The instructions that only promise to be near the true result. A launch with exact numerics gets the bits that
// hardware gives (special_functions/); others get double precision, rounded once.
#include <cmath>

#include "exec/arithmetic/float.h"
#include "exec/arithmetic/half.h"
#include "exec/arithmetic/special_functions/compiled.h"
#include "exec/arithmetic/special_functions/halves.h"
#include "machine/launch.h"

namespace flashpath::exec {
namespace {

template <class T, class Exact, class Fast>
void run_one_operand(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  if (warp.launch->numerics.exact) {
    assign<T>(warp, i, [a](int lane) { return Exact{}(a[lane]); });
  } else {
    assign<T>(warp, i, [a](int lane) { return Fast{}(a[lane]); });
  }
}

template <class T, class Exact, class Fast>
void run_two_operands(Warp& warp, const Instruction& i) {
  const T* a = lanes<T>(warp, i.a[0]);
  const T* b = lanes<T>(warp, i.b[0]);
  if (warp.launch->numerics.exact) {
    assign<T>(warp, i, [a, b](int lane) { return Exact{}(a[lane], b[lane]); });
  } else {
    assign<T>(warp, i, [a, b](int lane) { return Fast{}(a[lane], b[lane]); });
  }
}

template <class T, class Exact, class Fast>
void one_operand(Registry& r, const std::string& name, Exact, Fast) {
  r.add(name, &run_one_operand<T, Exact, Fast>);
}

template <class T, class Exact, class Fast>
void two_operands(Registry& r, const std::string& name, Exact, Fast) {
  r.add(name, &run_two_operands<T, Exact, Fast>);
}

// A function of f32 with and without .ftz: the only flag that the approximations have.
template <class Exact, class ExactFlushed, class Fast>
void single(Registry& r, const std::string& name, Exact exact, ExactFlushed exact_flushed, Fast) {
  one_operand<f32>(r, name + ".approx.f32", exact, [](f32 x) { return canonical(static_cast<f32>(Fast{}(f64(x)))); });
  one_operand<f32>(r, name + ".approx.f32*", exact_flushed, [](f32 x) {
    return canonical(flushed(static_cast<f32>(Fast{}(f64(flushed(x))))));
  });
}

template <class Exact, class ExactFlushed, class Fast>
void division(Registry& r, const std::string& name, Exact exact, ExactFlushed exact_flushed, Fast) {
  two_operands<f32>(r, name, exact, [](f32 x, f32 y) { return canonical(Fast{}(x, y)); });
  two_operands<f32>(r, name + "*", exact_flushed, [](f32 x, f32 y) {
    return canonical(flushed(Fast{}(flushed(x), flushed(y))));
  });
}

template <class H, class F>
struct ExactHalf {
  u16 operator()(u16 x) const { return special::cut<H>(F{}(std::bit_cast<u32>(H::widen(x)))); }
};
template <class H, class F>
struct FastHalf {
  u16 operator()(u16 x) const { return H::narrow(F{}(f64(H::widen(x)))); }
};
template <class F>
struct Pair {
  u32 operator()(u32 x) const { return u32(F{}(u16(x))) | u32(F{}(u16(x >> 16))) << 16; }
};

// A function of f16 or bf16, alone and in pairs. With .ftz, which only bf16 has, nothing changes: the unit of f32,
// which computes it, flushes anyway.
template <class H, class Exact, class Fast>
void half(Registry& r, const std::string& name, Exact, Fast) {
  for (const char* flags : {"", "*"}) {
    one_operand<u16>(r, name + flags, ExactHalf<H, Exact>{}, FastHalf<H, Fast>{});
    one_operand<u32>(r, name + "x2" + flags, Pair<ExactHalf<H, Exact>>{}, Pair<FastHalf<H, Fast>>{});
  }
}

template <class H>
void halves(Registry& r, const std::string& type) {
  half<H>(r, "ex2.approx." + type, [](u32 x) { return special::exponential(x); }, [](f64 x) { return std::exp2(x); });
  half<H>(
      r, "tanh.approx." + type, [](u32 x) { return special::hyperbolic_tangent(x); },
      [](f64 x) { return std::tanh(x); });
}

// Above 2^126 the reciprocal of a divisor is subnormal, and div.approx takes it for zero.
f32 nearly_divided(f32 x, f32 y) {
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

// What the unit itself does, which is what the form with .ftz does.
template <u32 (*kUnit)(u32)>
struct Unit {
  f32 operator()(f32 x) const { return special::of_float<kUnit>(x); }
};

}  // namespace

void register_approximate(Registry& r) {
  single(
      r, "rcp", [](f32 x) { return special::rcp(x); }, Unit<special::reciprocal>{}, [](f64 x) { return 1.0 / x; });
  single(
      r, "sqrt", [](f32 x) { return special::sqrt(x); }, Unit<special::root>{}, [](f64 x) { return std::sqrt(x); });
  single(
      r, "rsqrt", [](f32 x) { return special::rsqrt(x); }, Unit<special::reciprocal_root>{},
      [](f64 x) { return 1.0 / std::sqrt(x); });
  single(
      r, "ex2", [](f32 x) { return special::ex2(x); }, Unit<special::exponential>{},
      [](f64 x) { return std::exp2(x); });
  single(
      r, "lg2", [](f32 x) { return special::lg2(x); }, Unit<special::logarithm>{}, [](f64 x) { return std::log2(x); });
  constexpr auto sine = [](f32 x) { return special::sin(x); };
  constexpr auto cosine = [](f32 x) { return special::cos(x); };
  single(r, "sin", sine, sine, [](f64 x) { return std::sin(x); });
  single(r, "cos", cosine, cosine, [](f64 x) { return std::cos(x); });
  one_operand<f32>(
      r, "tanh.approx.f32", [](f32 x) { return special::tanh(x); },
      [](f32 x) { return canonical(static_cast<f32>(std::tanh(f64(x)))); });

  division(
      r, "div.approx.f32", [](f32 x, f32 y) { return special::div_approx(x, y); },
      [](f32 x, f32 y) { return special::div_approx_ftz(x, y); }, [](f32 x, f32 y) { return nearly_divided(x, y); });
  division(
      r, "div.full.f32", [](f32 x, f32 y) { return special::div_full(x, y); },
      [](f32 x, f32 y) { return special::div_full_ftz(x, y); }, [](f32 x, f32 y) { return x / y; });

  one_operand<f64>(
      r, "rsqrt.approx.f64", [](f64 x) { return special::rsqrt(x); },
      [](f64 x) { return canonical(1.0 / std::sqrt(x)); });
  one_operand<f64>(
      r, "rcp.approx.ftz.f64", [](f64 x) { return special::rcp_ftz(x); },
      [](f64 x) { return coarse(1.0 / upper_word(flushed(x))); });
  one_operand<f64>(
      r, "rsqrt.approx.ftz.f64", [](f64 x) { return special::rsqrt_ftz(x); },
      [](f64 x) { return coarse(1.0 / std::sqrt(upper_word(flushed(x)))); });

  halves<Fp16>(r, "f16");
  halves<Bf16>(r, "bf16");
}

}  // namespace flashpath::exec
