// wgmma.mma_async: D (64, N) = A (64, K) · B (K, N) + D, by four warps of 16 rows each. K is 32 bytes of a row.
//
// B is made of numbers once for all four, some columns at a time.
#include <algorithm>
#include <string>
#include <type_traits>

#include "exec/operations.h"
#include "exec/tensor_core/aligned_sums.h"
#include "exec/tensor_core/arithmetic.h"
#include "exec/tensor_core/elements.h"
#include "exec/tensor_core/registers.h"
#include "exec/tensor_core/shared_matrix.h"
#include "exec/tensor_core/whole_warp.h"
#include "machine/block.h"
#include "program/warpgroup_flags.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec::tensor_core {
namespace {

constexpr int kRows = 16;  // of a warp

template <class Element>
constexpr int kDepth = 32 * 8 / Element::kBits;  // K

// ---- Factors in shared memory ------------------------------------------------------------------------------

// The 16 bytes at an address; zeros, and a fault, where there is no shared memory.
const std::byte* chunk(Warp& warp, const Instruction& i, u32 address) {
  if (address + SharedMatrix::kChunk <= warp.block->shared.size()) return warp.shared + address;
  return shared_place(warp, i, 0, address, SharedMatrix::kChunk, false);
}

// Rows of 16 bytes made of eight numbers each, exchanged with their columns: (8, 8).
template <class Element, class Chunk>
void transposed_square(Chunk&& chunk_of, typename Element::Value* to, int stride) {
  const std::byte* rows[8];
  for (u32 k = 0; k < 8; ++k) rows[k] = chunk_of(k);
  std::byte square[8 * 16];
  transpose_8x8(rows, square);
  for (int k = 0; k < 8; ++k) Element::expand(square + 16 * k, to + k * stride);
}

// 16 rows of A from `row` on, (row, k).
template <class Element>
void read_left(Warp& warp, const Instruction& i, u64 descriptor, u32 row, typename Element::Value* to) {
  constexpr int K = kDepth<Element>;
  const bool is_m_major = (i.modifier & kTransposesLeft) != 0;
  const SharedMatrix matrix(descriptor, is_m_major);
  if constexpr (Element::kBits == 16) {
    if (is_m_major) {
      for (u32 half = 0; half < 2; ++half) {
        for (u32 k = 0; k < K; k += 8) {
          transposed_square<Element>(
              [&](u32 n) { return chunk(warp, i, matrix.address(k + n, row / 8 + half)); }, to + half * 8 * K + k, K);
        }
      }
      return;
    }
  }
  for (u32 r = 0; r < kRows; ++r) {
    for (u32 part = 0; part < 2; ++part) {
      Element::expand(chunk(warp, i, matrix.address(row + r, part)), to + r * K + part * K / 2);
    }
  }
}

// Columns of B from `column` on, (k, column).
template <class Element, int kColumns>
void read_right(Warp& warp, const Instruction& i, u64 descriptor, u32 column, typename Element::Value* to) {
  constexpr int K = kDepth<Element>;
  const bool is_n_major = (i.modifier & kTransposesRight) != 0;
  const SharedMatrix matrix(descriptor, is_n_major);
  if constexpr (Element::kBits == 16) {
    for (u32 n = 0; n < kColumns; n += 8) {
      if (is_n_major) {
        for (u32 k = 0; k < K; ++k) {
          Element::expand(chunk(warp, i, matrix.address(k, (column + n) / 8)), to + k * kColumns + n);
        }
        continue;
      }
      for (u32 part = 0; part < 2; ++part) {
        transposed_square<Element>([&](u32 k) { return chunk(warp, i, matrix.address(column + n + k, part)); },
                                   to + part * 8 * kColumns + n, kColumns);
      }
    }
  } else {
    for (u32 n = 0; n < kColumns; ++n) {
      typename Element::Value row[K];
      for (u32 part = 0; part < 2; ++part) {
        Element::expand(chunk(warp, i, matrix.address(column + n, part)), row + part * K / 2);
      }
      for (int k = 0; k < K; ++k) to[k * kColumns + static_cast<int>(n)] = row[k];
    }
  }
}

// The same from registers, as they were when the operation began.
template <class Element>
void read_left_registers(const std::vector<u32>& registers, typename Element::Value* to) {
  using Fragment = LeftFragment<kRows, kDepth<Element>, Element::kBits>;
  const std::byte* from = reinterpret_cast<const std::byte*>(registers.data());
  for (int p = 0; p < Fragment::kPieces; ++p) {
    const Piece piece = Fragment::piece(p);
    for (int g = 0; g < 8; ++g) {
      Element::expand(from + (p * 8 + g) * 16, to + (piece.row + g) * Fragment::kColumns + piece.column);
    }
  }
}

// ---- Sums -----------------------------------------------------------------------------------------------------

// Bytes have units of their own here: they keep fewer bits, and floats are cut off after as many.
template <class A, class B, bool kHalves, int kColumns>
void add_exactly(const f32* left, const f32* right, f32* sums) {
  constexpr int K = kDepth<A>;
  constexpr bool kBytes = A::kBits == 8;
  constexpr Adder kAdder = kBytes ? Adder{13, kHalves ? 23 : 13, 7, kHalves} : Adder{25, 23, 7, kHalves};
  add_groups<kAdder, InARow<K>, kRows, kColumns, K>(left, A::kLeastExponent, right, B::kLeastExponent, sums);
}

template <class D, class A, class B, class Products, int kColumns>
void add_columns(Warp& warp, const Instruction& i, bool accumulates, const typename A::Value* left,
                 const typename A::Value* right, u32 column) {
  using Value = typename A::Value;
  using Accumulators = AccumulatorFragment<kRows, kColumns>;
  constexpr int K = kDepth<A>;
  const u32* registers = pooled_registers(warp, i) + column / 8 * 2 * D::kRegistersPerPiece;
  alignas(64) Value sums[kRows * kColumns] = {};
  if (accumulates) load_accumulators<D, Accumulators>(warp, registers, sums);
  if constexpr (std::is_same_v<Value, s32>) {
    alignas(64) Value product[kRows * kColumns] = {};
    multiply_add<Products, kRows, kColumns, K>(left, right, product);
    const bool saturates = (i.modifier & kSaturatesSums) != 0;
    for (int k = 0; k < kRows * kColumns; ++k) {
      sums[k] = saturates ? add_saturating(sums[k], product[k]) : add_wrapping(sums[k], product[k]);
    }
  } else if (!warp.launch->numerics.exact) {
    multiply_add<Products, kRows, kColumns, K>(left, right, sums);
  } else {
    add_exactly<A, B, std::is_same_v<D, Halves>, kColumns>(left, right, sums);
  }
  store_accumulators<D, Accumulators>(warp, registers, sums);
}

template <class Value>
void negate(Value* values, int count) {
  for (int k = 0; k < count; ++k) values[k] = -values[k];
}

template <class D, class A, class B, class Products, int kColumns>
void multiply_columns(const MatrixPart* parts, u32 count, const typename A::Value* left, u32 column) {
  using Value = typename A::Value;
  constexpr int K = kDepth<A>;
  alignas(64) Value right[K * kColumns];
  for (u32 p = 0; p < count; ++p) {
    const MatrixOperation& operation = *parts[p].operation;
    const Instruction& i = *operation.instruction;
    Warp& warp = *parts[p].warp;
    const bool is_same = p > 0 && operation.right == parts[p - 1].operation->right &&
                         operation.instruction == parts[p - 1].operation->instruction;
    if (!is_same) {
      read_right<B, kColumns>(warp, i, operation.right, column, right);
      if (i.modifier & kNegatesRight) negate(right, K * kColumns);
    }
    add_columns<D, A, B, Products, kColumns>(warp, i, operation.accumulates, left + p * kRows * K, right, column);
  }
}

template <class D, class A, class B, class Products>
void multiply(const MatrixPart* parts, u32 count) {
  using Value = typename A::Value;
  constexpr int K = kDepth<A>;
  alignas(64) Value left[kWarpsOfGroup * kRows * K];
  for (u32 p = 0; p < count; ++p) {
    const MatrixOperation& operation = *parts[p].operation;
    const Instruction& i = *operation.instruction;
    Value* const own = left + p * kRows * K;
    if (i.modifier & kLeftInRegisters) {
      read_left_registers<A>(operation.registers, own);
    } else {
      read_left<A>(*parts[p].warp, i, operation.left, parts[p].warp->index % kWarpsOfGroup * kRows, own);
    }
    if (i.modifier & kNegatesLeft) negate(own, kRows * K);
  }
  constexpr u32 kMany = 32;
  const u32 columns = parts[0].operation->instruction->modifier & kColumnsMask;
  u32 column = 0;
  for (; column + kMany <= columns; column += kMany) {
    multiply_columns<D, A, B, Products, kMany>(parts, count, left, column);
  }
  for (; column < columns; column += 8) multiply_columns<D, A, B, Products, 8>(parts, count, left, column);
}

// ---- The instruction ------------------------------------------------------------------------------------------

// Where in shared memory what it reads is, 16 bytes each.
std::vector<u32> chunks_of(const MatrixOperation& operation) {
  const Instruction& i = *operation.instruction;
  std::vector<u32> all;
  const auto add = [&](u64 descriptor, bool is_mn_major, u32 extent) {
    const SharedMatrix matrix(descriptor, is_mn_major);
    const u32 lines = is_mn_major ? 16 : extent;  // such matrices have elements of 16 bits
    const u32 parts = is_mn_major ? extent / 8 : 2;
    for (u32 line = 0; line < lines; ++line) {
      for (u32 part = 0; part < parts; ++part) all.push_back(matrix.address(line, part));
    }
  };
  if ((i.modifier & kLeftInRegisters) == 0) {
    add(operation.left, (i.modifier & kTransposesLeft) != 0, kRows * kWarpsOfGroup);
  }
  add(operation.right, (i.modifier & kTransposesRight) != 0, i.modifier & kColumnsMask);
  return all;
}

template <class D, class A, class B, class Products>
void begin(Warp& warp, const Instruction& i) {
  require_whole_warp(warp, i);
  const u32 first = warp.index / kWarpsOfGroup * kWarpsOfGroup;
  if (first + kWarpsOfGroup > warp.block->warps.size()) {
    throw fault_at(warp, i.index, 0, "bad-mask", {"vgpu.no-warpgroup", {{"warps", warp.block->warps.size() - first}}});
  }
  MatrixQueue& queue = warp.block->matrices[warp.index];
  MatrixOperation& begun = queue.pending.emplace_back();
  begun.instruction = &i;
  begun.multiply = &multiply<D, A, B, Products>;
  begun.right = lanes<u64>(warp, i.b[0])[0];
  const bool negated = (i.modifier & kNegatesScale) != 0;
  begun.accumulates = ((mask(warp, i.c[0]) & 1) != 0) != negated;
  if (i.modifier & kLeftInRegisters) {
    const u32 sums = (i.modifier & kColumnsMask) / 8 * 2 * D::kRegistersPerPiece;
    begun.registers.resize(4 * kLanes);
    for (u32 k = 0; k < 4; ++k) {
      std::copy_n(lanes<u32>(warp, pooled_registers(warp, i)[sums + k]), kLanes, begun.registers.data() + k * kLanes);
    }
  } else {
    begun.left = lanes<u64>(warp, i.a[0])[0];
  }
  ++queue.begun;
  if (warp.watch == nullptr || warp.index != first) return;
  begun.read = chunks_of(begun);
  sanitize::begin_matrix_operation(warp, i, begun);
}

// ---- All types --------------------------------------------------------------------------------------------------

template <class D, class A, class B, class Products>
void add(Registry& r, const std::string& suffix = "") {
  const std::string types = std::string(D::kName) + "." + (A::kBits == 32 && !suffix.empty() ? "b1.b1" : "");
  if constexpr (std::is_same_v<A, Bits32>) {
    r.add("wgmma." + types + suffix, &begin<D, A, B, Products>);
  } else {
    r.add("wgmma." + types + A::kName + "." + B::kName, &begin<D, A, B, Products>);
  }
}

template <class D>
void add_bytes(Registry& r) {
  add<D, E4m3, E4m3, ExactProducts>(r);
  add<D, E4m3, E5m2, ExactProducts>(r);
  add<D, E5m2, E4m3, ExactProducts>(r);
  add<D, E5m2, E5m2, ExactProducts>(r);
}

void add_all(Registry& r) {
  add<Floats, F16, F16, ExactProducts>(r);
  add<Halves, F16, F16, ExactProducts>(r);
  add<Floats, Bf16, Bf16, Fused>(r);
  add<Floats, Tf32, Tf32, Fused>(r);
  add_bytes<Floats>(r);
  add_bytes<Halves>(r);
  add<Words, S8, S8, Integers>(r);
  add<Words, S8, U8, Integers>(r);
  add<Words, U8, S8, Integers>(r);
  add<Words, U8, U8, Integers>(r);
  add<Words, Bits32, Bits32, AndPopulation>(r, ".and");
}

}  // namespace
}  // namespace flashpath::exec::tensor_core

void flashpath::exec::register_wgmma(Registry& registry) { tensor_core::add_all(registry); }
