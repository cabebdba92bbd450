// Arithmetic on f32 and f64: IEEE as the PTX ISA has it, with its rounding modes, ftz and sat.
#include "exec/arithmetic/float.h"

namespace flashpath::exec {
namespace {

template <class T>
T with_signs_of(T magnitude, T x, T y) {
  return std::signbit(x) != std::signbit(y) ? -magnitude : magnitude;
}

template <class T>
struct Product {
  static constexpr bool kIsProduct = true;
  T operator()(T x, T y) const { return x * y; }
};

template <class T>
void minimum_and_maximum(Registry& r, const std::string& type) {
  const auto forms = [&]<class F>(const std::string& name, F) {
    binary_float<T>(r, name + "." + type, F{});
    binary_float<T>(r, name + ".NaN." + type, [](T x, T y) { return x != x || y != y ? x + y : F{}(x, y); });
    // The sign of the product on the smaller or larger magnitude.
    binary_float<T>(r, name + ".xorsign.abs." + type,
                    [](T x, T y) { return with_signs_of(F{}(std::fabs(x), std::fabs(y)), x, y); });
    binary_float<T>(r, name + ".NaN.xorsign.abs." + type, [](T x, T y) {
      return x != x || y != y ? x + y : with_signs_of(F{}(std::fabs(x), std::fabs(y)), x, y);
    });
  };
  forms("min", [](T x, T y) { return smaller(x, y); });
  forms("max", [](T x, T y) { return larger(x, y); });
}

template <class T>
void arithmetic(Registry& r, const std::string& type) {
  binary_float<T>(r, "add." + type, [](T x, T y) { return x + y; });
  binary_float<T>(r, "sub." + type, [](T x, T y) { return x - y; });
  binary_float<T>(r, "mul." + type, Product<T>{});
  binary_float<T, true>(r, "div." + type, [](T x, T y) { return x / y; });
  ternary_float<T>(r, "fma." + type, [](T x, T y, T z) { return std::fma(x, y, z); });
  // What a sum with a product becomes (lower/contract.h): PTX itself has no names for these.
  ternary_float<T>(r, "fmsub." + type, [](T x, T y, T z) { return std::fma(x, y, -z); });
  ternary_float<T>(r, "fnmadd." + type, [](T x, T y, T z) { return std::fma(-x, y, z); });
  ternary_float<T>(r, "fnmsub." + type, [](T x, T y, T z) { return std::fma(-x, y, -z); });
  unary_float<T>(r, "sqrt." + type, [](T x) { return std::sqrt(x); });
  unary_float<T>(r, "rcp." + type, [](T x) { return T(1) / x; });
  minimum_and_maximum<T>(r, type);
  unary_float<T>(r, "neg." + type, [](T x) { return -x; });
  unary_float<T>(r, "abs." + type, [](T x) { return std::fabs(x); });
  binary<T, T, T>(r, "copysign." + type, [](T x, T y) { return std::copysign(y, x); });
}

}  // namespace

void register_float(Registry& r) {
  arithmetic<f32>(r, "f32");
  arithmetic<f64>(r, "f64");
}

}  // namespace flashpath::exec
