// mma.sync.m8n8k4 of halves, the form of the first tensor cores: four products at once. Each belongs to two
// groups of four lanes, a low one (lanes 4q to 4q + 3) and a high one (16 lanes further on).
//
// No GPU that is played has such units: ptxas calls a function that exchanges registers and multiplies with the
// ordinary fma, in single precision. The order of its sums is the same for all of them.
#include <string>

#include "exec/arithmetic/half.h"
#include "exec/operations.h"
#include "exec/tensor_core/arithmetic.h"
#include "exec/tensor_core/whole_warp.h"

namespace flashpath::exec {
namespace {

constexpr int kProducts = 4;
constexpr int kMembers = 8;  // lanes of a product: four of the low group, then four of the high one

int lane_of(int product, int member) { return 4 * product + member % 4 + (member < 4 ? 0 : 16); }

f32 half_of(Warp& warp, const u32* registers, int lane, int element) {
  const u32 pair = lanes<u32>(warp, registers[element / 2])[lane];
  return f16_to_f32(static_cast<u16>(element % 2 == 0 ? pair : pair >> 16));
}

// Where a member's element e of an accumulator stands in the 8×8 matrix, row by row.
template <bool kFloats>
int place_of(int member, int e) {
  if (!kFloats) return member * 8 + e;
  const int row = (member & 1) + (e & 2) + (member & 4);
  const int column = (e & 4) + (member & 2) + (e & 1);
  return row * 8 + column;
}

// Factors: the elements of a member are four of a line. A line of A by rows is the member's row, a line of A by
// columns is column member % 4, of which the low group has the upper half; B likewise.
template <bool kRowsOfA, bool kRowsOfB>
void load_factors(Warp& warp, const u32* of_a, const u32* of_b, int product, f32* a, f32* b) {  // (8, 4), (4, 8)
  for (int member = 0; member < kMembers; ++member) {
    const int lane = lane_of(product, member);
    const int half = member / 4 * 4;
    for (int e = 0; e < 4; ++e) {
      const f32 of_left = half_of(warp, of_a, lane, e);
      const f32 of_right = half_of(warp, of_b, lane, e);
      (kRowsOfA ? a[member * 4 + e] : a[(half + e) * 4 + member % 4]) = of_left;
      (kRowsOfB ? b[member % 4 * 8 + half + e] : b[e * 8 + member]) = of_right;
    }
  }
}

// d += a·b: for floats, all products are summed first, from +0 on; for halves, C is added to the sum of the first
// two, and then the sum of the others.
template <bool kFloats>
void add_products(const f32* a, const f32* b, f32* d) {  // (8, 4), (4, 8), (8, 8)
  constexpr int kParts = kFloats ? 1 : 2;
  constexpr int kTerms = 4 / kParts;
  for (int at = 0; at < 8 * 8; at += kVectorLength<f32>) {
    Vector<f32>& sums = *reinterpret_cast<Vector<f32>*>(d + at);
    for (int part = 0; part < kParts; ++part) {
      Vector<f32> products = everywhere(kFloats ? 0.0f : -0.0f);  // -0 leaves any product as it is
      for (int k = part * kTerms; k < (part + 1) * kTerms; ++k) {
        const Vector<f32> right = *reinterpret_cast<const Vector<f32>*>(b + k * 8 + at % 8);
        products = ExactProducts::add(everywhere(a[at / 8 * 4 + k]), right, products);
      }
      sums += products;
    }
    sums = with_one_nan<f32>(sums);
  }
}

template <bool kRowsOfA, bool kRowsOfB, bool kFloatsInD, bool kFloatsInC>
void run(Warp& warp, const Instruction& i) {
  require_whole_warp(warp, i);
  const u32* of_d = pooled_registers(warp, i);
  const u32* of_a = of_d + (kFloatsInD ? 8 : 4);
  const u32* of_b = of_a + 2;
  const u32* of_c = of_b + 2;
  alignas(64) f32 sums[kProducts][8 * 8];
  for (int product = 0; product < kProducts; ++product) {
    alignas(64) f32 a[8 * 4];
    alignas(64) f32 b[4 * 8];
    load_factors<kRowsOfA, kRowsOfB>(warp, of_a, of_b, product, a, b);
    for (int member = 0; member < kMembers; ++member) {
      const int lane = lane_of(product, member);
      for (int e = 0; e < 8; ++e) {
        sums[product][place_of<kFloatsInC>(member, e)] =
            kFloatsInC ? lanes<f32>(warp, of_c[e])[lane] : half_of(warp, of_c, lane, e);
      }
    }
    add_products<kFloatsInD>(a, b, sums[product]);
  }
  for (int product = 0; product < kProducts; ++product) {
    for (int member = 0; member < kMembers; ++member) {
      const int lane = lane_of(product, member);
      for (int e = 0; e < 8; ++e) {
        const u32 to = of_d[kFloatsInD ? e : e / 2];
        const f32 sum = sums[product][place_of<kFloatsInD>(member, e)];
        if constexpr (kFloatsInD) {
          lanes<f32>(warp, to)[lane] = sum;
        } else {
          lanes<u16>(warp, to)[2 * lane + e % 2] = f32_to_f16(sum);
        }
      }
    }
  }
}

template <bool kRowsOfA, bool kRowsOfB>
void all_accumulators(Registry& r, const std::string& layouts) {
  const std::string name = "mma.m8n8k4." + layouts;
  r.add(name + ".f16.f16.f16.f16", &run<kRowsOfA, kRowsOfB, false, false>);
  r.add(name + ".f32.f16.f16.f16", &run<kRowsOfA, kRowsOfB, true, false>);
  r.add(name + ".f32.f16.f16.f32", &run<kRowsOfA, kRowsOfB, true, true>);
}

}  // namespace

void register_mma_of_quad_pairs(Registry& r) {
  all_accumulators<true, true>(r, "row.row");
  all_accumulators<true, false>(r, "row.col");
  all_accumulators<false, true>(r, "col.row");
  all_accumulators<false, false>(r, "col.col");
}

}  // namespace flashpath::exec
