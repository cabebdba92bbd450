// mma.sync and wmma.mma: fragments made dense, multiplied, and handed back to the lanes.
//
// An instruction's registers are in the operand pool: those of D, then A, B and C.
#include <algorithm>
#include <string>
#include <type_traits>

#include "exec/operations.h"
#include "exec/tensor_core/aligned_sums.h"
#include "exec/tensor_core/arithmetic.h"
#include "exec/tensor_core/elements.h"
#include "exec/tensor_core/fragments.h"
#include "exec/tensor_core/registers.h"
#include "exec/tensor_core/whole_warp.h"
#include "program/modifiers.h"

namespace flashpath::exec::tensor_core {
namespace {

// ---- Forms of the instruction ----------------------------------------------------------------------------

template <int M_, int N_, int K_>
struct Extents {
  static constexpr int M = M_;
  static constexpr int N = N_;
  static constexpr int K = K_;
};

enum class Overflow { kWraps, kSaturates };
// For m8n32k16 the hardware lets the factors change places and computes the transposed product.
enum class Order { kPlain, kMirrored };

// A factor's registers: as many as it has pieces, or, for the halves of wmma, eight that repeat the pieces.
template <class Fragment, int kAtLeast>
constexpr int kRegisters = Fragment::kPieces > kAtLeast ? Fragment::kPieces : kAtLeast;

// ---- Sums of floats, as the hardware makes them ------------------------------------------------------------

// kAtOnce: the extent in k of the machine instruction that PTX's is translated to.
template <class S, class A, class B, bool kHalves, int kAtOnce>
void add_as_hardware(Generation generation, const f32* left, const f32* right, f32* sums) {
  // A unit of Hopper takes 32 bytes of a row at once, those before it 16.
  using Long = InARow<std::min(kAtOnce, 32 * 8 / A::kBits)>;
  using Short = InARow<std::min(kAtOnce, 16 * 8 / A::kBits)>;
  const auto add = generation == Generation::kHopper
                       ? add_groups<Adder{25, 23, 7, kHalves}, Long, S::M, S::N, S::K>
                       : add_groups<Adder{24, 23, 6, kHalves}, Short, S::M, S::N, S::K>;
  add(left, A::kLeastExponent, right, B::kLeastExponent, sums);
}

// Bytes: Ada's units have few bits for them. Hopper's have no such instruction for a warp; ptxas has it multiply
// halves instead, the lower two bytes of every register first, and add C at the end.
template <class S, class A, class B, bool kHalves>
void add_bytes_as_hardware(Generation generation, const f32* left, const f32* right, f32* sums) {
  if (generation != Generation::kHopper) {
    add_groups<Adder{13, kHalves ? 23 : 13, 6, kHalves}, InARow<16>, S::M, S::N, S::K>(
        left, A::kLeastExponent, right, B::kLeastExponent, sums);
    return;
  }
  alignas(64) f32 products[S::M * S::N] = {};
  add_groups<Adder{25, 23, 7, kHalves}, EverySecondPair<S::K / 2>, S::M, S::N, S::K>(
      left, F16::kLeastExponent, right, F16::kLeastExponent, products);
  for (int k = 0; k < S::M * S::N; ++k) sums[k] = canonical(sums[k] + products[k]);
}

// ---- The instruction -------------------------------------------------------------------------------------

template <class S, class D, class A, class B, class C, class Products, Overflow kOverflow = Overflow::kWraps,
          int kAtLeast = 0, Order kOrder = Order::kPlain, int kAtOnce = S::K>
void run(Warp& warp, const Instruction& i) {
  using Left = LeftFragment<S::M, S::K, A::kBits>;
  using Right = RightFragment<S::N, S::K, B::kBits>;
  using Accumulators = AccumulatorFragment<S::M, S::N>;
  using Value = typename A::Value;
  constexpr bool kMirrored = kOrder == Order::kMirrored;
  constexpr int kLeft = kRegisters<Left, kAtLeast>;
  constexpr int kRight = kRegisters<Right, kAtLeast>;
  constexpr int kSums = S::M * S::N;

  require_whole_warp(warp, i);
  const u32* of_d = pooled_registers(warp, i);
  const u32* of_factors = of_d + Accumulators::kPieces * D::kRegistersPerPiece;
  const u32* of_c = of_factors + kLeft + kRight;

  alignas(64) Value left[S::M * S::K];   // (M, K)
  alignas(64) Value right[S::K * S::N];  // (K, N)
  alignas(64) Value sums[kSums];         // (M, N)
  load_left<A, Left>(warp, of_factors + (kMirrored ? kRight : 0), left);
  load_right<B, Right>(warp, of_factors + (kMirrored ? 0 : kLeft), right);
  load_accumulators<C, Accumulators>(warp, of_c, sums);
  if constexpr (std::is_same_v<Value, s32>) {
    alignas(64) Value product[kSums] = {};
    multiply_add<Products, S::M, S::N, S::K>(left, right, product);
    for (int k = 0; k < kSums; ++k) {
      sums[k] = kOverflow == Overflow::kSaturates ? add_saturating(sums[k], product[k])
                                                  : add_wrapping(sums[k], product[k]);
    }
  } else if constexpr (std::is_same_v<Value, f64>) {
    const RoundingScope rounding(i.modifier);
    alignas(64) f64 start[kSums];
    std::copy_n(sums, kSums, start);
    multiply_add<Products, S::M, S::N, S::K>(left, right, sums);
    keep_nans<S::M, S::N, S::K>(left, right, start, sums);
  } else if (const Numerics numerics = warp.launch->numerics; !numerics.exact) {
    multiply_add<Products, S::M, S::N, S::K>(left, right, sums);
  } else {
    // Where only one of C and D is halves, the sums are floats, and halves are converted before or after.
    constexpr bool kHalves = std::is_same_v<C, Halves> && std::is_same_v<D, Halves>;
    if constexpr (A::kBits == 8) {
      add_bytes_as_hardware<S, A, B, kHalves>(numerics.generation, left, right, sums);
    } else {
      add_as_hardware<S, A, B, kHalves, kAtOnce>(numerics.generation, left, right, sums);
    }
  }
  store_accumulators<D, Accumulators>(warp, of_d, sums);
}

// ---- All shapes and types --------------------------------------------------------------------------------

template <class A, class B>
using FloatProducts = std::conditional_t<A::kProductsAreFloats && B::kProductsAreFloats, ExactProducts, Fused>;

template <class D, class A, class B, class C>
std::string typed(const std::string& shape) {
  return shape + "." + D::kName + "." + A::kName + "." + B::kName + "." + C::kName;
}

template <class S, class A, class B, class Sum>
void add_floats(Registry& r, const std::string& shape) {
  r.add(typed<Sum, A, B, Sum>(shape), &run<S, Sum, A, B, Sum, FloatProducts<A, B>>);
}

template <class S>
void add_fp8(Registry& r, const std::string& shape) {
  add_floats<S, E4m3, E4m3, Floats>(r, shape);
  add_floats<S, E4m3, E5m2, Floats>(r, shape);
  add_floats<S, E5m2, E4m3, Floats>(r, shape);
  add_floats<S, E5m2, E5m2, Floats>(r, shape);
  add_floats<S, E4m3, E4m3, Halves>(r, shape);
  add_floats<S, E4m3, E5m2, Halves>(r, shape);
  add_floats<S, E5m2, E4m3, Halves>(r, shape);
  add_floats<S, E5m2, E5m2, Halves>(r, shape);
}

template <class S>
void add_doubles(Registry& r, const std::string& name) {
  r.add(typed<Doubles, F64, F64, Doubles>(name), &run<S, Doubles, F64, F64, Doubles, Fused>);
}

template <class S, class A, class B, Order kOrder = Order::kPlain>
void add_integers(Registry& r, const std::string& shape) {
  const std::string name = typed<Words, A, B, Words>(shape);
  r.add(name, &run<S, Words, A, B, Words, Integers, Overflow::kWraps, 0, kOrder>);
  r.add(name + ".satfinite", &run<S, Words, A, B, Words, Integers, Overflow::kSaturates, 0, kOrder>);
}

template <class S, class Signed, class Unsigned>
void add_all_signs(Registry& r, const std::string& shape) {
  add_integers<S, Signed, Signed>(r, shape);
  add_integers<S, Signed, Unsigned>(r, shape);
  add_integers<S, Unsigned, Signed>(r, shape);
  add_integers<S, Unsigned, Unsigned>(r, shape);
}

// K counts words of 32 bits.
template <class S>
void add_bits(Registry& r, const std::string& shape) {
  r.add(shape + ".s32.b1.b1.s32.xor", &run<S, Words, Bits32, Bits32, Words, XorPopulation>);
  r.add(shape + ".s32.b1.b1.s32.and", &run<S, Words, Bits32, Bits32, Words, AndPopulation>);
}

template <class S, class D, class C, Order kOrder>
void add_wmma_halves(Registry& r, const std::string& shape) {
  r.add(typed<D, F16, F16, C>(shape),
        &run<S, D, F16, F16, C, ExactProducts, Overflow::kWraps, 8, kOrder>);
}

template <class S, Order kOrder = Order::kPlain>
void add_wmma(Registry& r, const std::string& shape) {
  add_wmma_halves<S, Floats, Floats, kOrder>(r, shape);
  add_wmma_halves<S, Floats, Halves, kOrder>(r, shape);
  add_wmma_halves<S, Halves, Floats, kOrder>(r, shape);
  add_wmma_halves<S, Halves, Halves, kOrder>(r, shape);
  r.add(typed<Floats, Bf16, Bf16, Floats>(shape),
        &run<S, Floats, Bf16, Bf16, Floats, Fused, Overflow::kWraps, 0, kOrder>);
  add_integers<S, S8, S8, kOrder>(r, shape);
  add_integers<S, U8, U8, kOrder>(r, shape);
}

void add_all(Registry& r) {
  add_floats<Extents<16, 8, 8>, F16, F16, Floats>(r, "mma.m16n8k8");
  add_floats<Extents<16, 8, 8>, F16, F16, Halves>(r, "mma.m16n8k8");
  add_floats<Extents<16, 8, 16>, F16, F16, Floats>(r, "mma.m16n8k16");
  add_floats<Extents<16, 8, 16>, F16, F16, Halves>(r, "mma.m16n8k16");
  add_floats<Extents<16, 8, 8>, Bf16, Bf16, Floats>(r, "mma.m16n8k8");
  add_floats<Extents<16, 8, 16>, Bf16, Bf16, Floats>(r, "mma.m16n8k16");
  add_floats<Extents<16, 8, 4>, Tf32, Tf32, Floats>(r, "mma.m16n8k4");
  add_floats<Extents<16, 8, 8>, Tf32, Tf32, Floats>(r, "mma.m16n8k8");
  add_fp8<Extents<16, 8, 16>>(r, "mma.m16n8k16");
  add_fp8<Extents<16, 8, 32>>(r, "mma.m16n8k32");
  add_doubles<Extents<8, 8, 4>>(r, "mma.m8n8k4");
  add_doubles<Extents<16, 8, 4>>(r, "mma.m16n8k4");
  add_doubles<Extents<16, 8, 8>>(r, "mma.m16n8k8");
  add_doubles<Extents<16, 8, 16>>(r, "mma.m16n8k16");
  add_all_signs<Extents<8, 8, 16>, S8, U8>(r, "mma.m8n8k16");
  add_all_signs<Extents<16, 8, 16>, S8, U8>(r, "mma.m16n8k16");
  add_all_signs<Extents<16, 8, 32>, S8, U8>(r, "mma.m16n8k32");
  add_all_signs<Extents<8, 8, 32>, S4, U4>(r, "mma.m8n8k32");
  add_all_signs<Extents<16, 8, 32>, S4, U4>(r, "mma.m16n8k32");
  add_all_signs<Extents<16, 8, 64>, S4, U4>(r, "mma.m16n8k64");
  add_bits<Extents<8, 8, 4>>(r, "mma.m8n8k128");
  add_bits<Extents<16, 8, 4>>(r, "mma.m16n8k128");
  add_bits<Extents<16, 8, 8>>(r, "mma.m16n8k256");

  add_wmma<Extents<16, 16, 16>>(r, "wmma.m16n16k16");
  add_wmma<Extents<32, 8, 16>>(r, "wmma.m32n8k16");
  add_wmma<Extents<32, 8, 16>, Order::kMirrored>(r, "wmma.m8n32k16");
  r.add("wmma.m16n16k8.f32.tf32.tf32.f32",
        &run<Extents<16, 16, 8>, Floats, Tf32, Tf32, Floats, Fused, Overflow::kWraps, 0, Order::kPlain, 4>);
  add_doubles<Extents<8, 8, 4>>(r, "wmma.m8n8k4");
  add_integers<Extents<8, 8, 32>, S4, S4>(r, "wmma.m8n8k32");
  add_integers<Extents<8, 8, 32>, U4, U4>(r, "wmma.m8n8k32");
  add_bits<Extents<8, 8, 4>>(r, "wmma.m8n8k128");
}

}  // namespace
}  // namespace flashpath::exec::tensor_core

void flashpath::exec::register_mma(Registry& registry) { tensor_core::add_all(registry); }
