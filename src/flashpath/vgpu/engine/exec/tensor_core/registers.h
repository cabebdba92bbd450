// Matrices between the registers of a warp, as fragments lie there, and rows of numbers.
#pragma once

#include <cstddef>
#include <type_traits>

#include "exec/rooms.h"
#include "exec/tensor_core/elements.h"
#include "exec/tensor_core/fragments.h"
#include "exec/tensor_core/transpose.h"
#include "machine/warp.h"

namespace flashpath::exec::tensor_core {

// ---- Accumulators ----------------------------------------------------------------------------------------

// One number per register.
template <class T>
struct Whole {
  using Value = T;
  static constexpr const char* kName = std::is_same_v<T, s32> ? "s32" : sizeof(T) == 8 ? "f64" : "f32";
  static constexpr int kRegistersPerPiece = 2;

  // A lane's two neighbours are in two registers: rows are made by interleaving these, four lanes at a time.
  typedef T Quad __attribute__((vector_size(4 * sizeof(T)), may_alias));
  using Bits = std::conditional_t<sizeof(T) == 8, s64, s32>;
  typedef Bits Index __attribute__((vector_size(4 * sizeof(T))));

  static void load(Warp& warp, const u32* registers, T* to, int stride) {
    const Quad* even = lanes<Quad>(warp, registers[0]);
    const Quad* odd = lanes<Quad>(warp, registers[1]);
    for (int g = 0; g < 8; ++g) {
      Quad* row = reinterpret_cast<Quad*>(to + g * stride);
      row[0] = __builtin_shuffle(even[g], odd[g], Index{0, 4, 1, 5});
      row[1] = __builtin_shuffle(even[g], odd[g], Index{2, 6, 3, 7});
    }
  }

  static void store(Warp& warp, const u32* registers, const T* from, int stride) {
    Quad* even = lanes<Quad>(warp, registers[0]);
    Quad* odd = lanes<Quad>(warp, registers[1]);
    for (int g = 0; g < 8; ++g) {
      const Quad* row = reinterpret_cast<const Quad*>(from + g * stride);
      even[g] = __builtin_shuffle(row[0], row[1], Index{0, 2, 4, 6});
      odd[g] = __builtin_shuffle(row[0], row[1], Index{1, 3, 5, 7});
    }
  }
};

using Floats = Whole<f32>;
using Doubles = Whole<f64>;
using Words = Whole<s32>;

// Two halves per register, floats while they are summed.
struct Halves {
  using Value = f32;
  static constexpr const char* kName = "f16";
  static constexpr int kRegistersPerPiece = 1;

  static void load(Warp& warp, const u32* registers, f32* to, int stride) {
    const std::byte* from = lanes<std::byte>(warp, registers[0]);
    for (int g = 0; g < 8; ++g) halves_to_floats(from + 16 * g, to + g * stride);
  }

  static void store(Warp& warp, const u32* registers, const f32* from, int stride) {
    std::byte* d = lanes<std::byte>(warp, registers[0]);
    for (int g = 0; g < 8; ++g) floats_to_halves(from + g * stride, d + 16 * g);
  }
};

template <class Accumulator, class Fragment>
void load_accumulators(Warp& warp, const u32* registers, typename Accumulator::Value* to) {
  for (int p = 0; p < Fragment::kPieces; ++p) {
    const Piece piece = Fragment::piece(p);
    Accumulator::load(warp, registers + p * Accumulator::kRegistersPerPiece,
                      to + piece.row * Fragment::kColumns + piece.column, Fragment::kColumns);
  }
}

template <class Accumulator, class Fragment>
void store_accumulators(Warp& warp, const u32* registers, const typename Accumulator::Value* from) {
  for (int p = 0; p < Fragment::kPieces; ++p) {
    const Piece piece = Fragment::piece(p);
    Accumulator::store(warp, registers + p * Accumulator::kRegistersPerPiece,
                       from + piece.row * Fragment::kColumns + piece.column, Fragment::kColumns);
  }
}

// ---- Factors ---------------------------------------------------------------------------------------------

// Bytes of the register file that four lanes, a row of a piece, take.
template <class Element>
constexpr int kRowBytes = Element::kBits == 64 ? 32 : 16;

template <class Element, class Fragment>
void load_left(Warp& warp, const u32* registers, typename Element::Value* to) {  // (row, k)
  for (int p = 0; p < Fragment::kPieces; ++p) {
    const Piece piece = Fragment::piece(p);
    const std::byte* from = lanes<std::byte>(warp, registers[p]);
    for (int g = 0; g < 8; ++g) {
      Element::expand(from + g * kRowBytes<Element>, to + (piece.row + g) * Fragment::kColumns + piece.column);
    }
  }
}

template <class Element, class Fragment>
void load_right(Warp& warp, const u32* registers, typename Element::Value* to) {  // (k, column)
  constexpr int kStride = Fragment::kRows;
  for (int p = 0; p < Fragment::kPieces; ++p) {
    const Piece piece = Fragment::piece(p);
    const std::byte* from = lanes<std::byte>(warp, registers[p]);
    typename Element::Value* corner = to + piece.column * kStride + piece.row;
    if constexpr (Element::kBits == 16) {
      std::byte transposed[kLanes * 4];
      transpose_8x8(from, transposed);
      for (int k = 0; k < 8; ++k) Element::expand(transposed + 16 * k, corner + k * kStride);
    } else {
      typename Element::Value rows[8][Fragment::kWidth];
      for (int g = 0; g < 8; ++g) Element::expand(from + g * kRowBytes<Element>, rows[g]);
      for (int k = 0; k < Fragment::kWidth; ++k) {
        for (int g = 0; g < 8; ++g) corner[k * kStride + g] = rows[g][k];
      }
    }
  }
}

}  // namespace flashpath::exec::tensor_core
