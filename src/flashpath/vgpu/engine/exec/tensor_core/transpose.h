// An 8×8 matrix of 16-bit elements, rows and columns exchanged.
#pragma once

#include <cstddef>
#include <cstring>

#include "program/types.h"

namespace flashpath::exec {

// Three rounds of interleaving row k with row k + 4 move each element to its mirror image.
inline void transpose_8x8(const std::byte* const (&rows)[8], std::byte* transposed) {
  typedef u16 Row __attribute__((vector_size(16)));
  Row matrix[8];
  for (int k = 0; k < 8; ++k) std::memcpy(&matrix[k], rows[k], sizeof(Row));
  for (int round = 0; round < 3; ++round) {
    Row next[8];
    for (int k = 0; k < 4; ++k) {
      next[2 * k] = __builtin_shuffle(matrix[k], matrix[k + 4], Row{0, 8, 1, 9, 2, 10, 3, 11});
      next[2 * k + 1] = __builtin_shuffle(matrix[k], matrix[k + 4], Row{4, 12, 5, 13, 6, 14, 7, 15});
    }
    std::memcpy(matrix, next, sizeof matrix);
  }
  std::memcpy(transposed, matrix, sizeof matrix);
}

// Of rows that follow each other, as in a register of 32 lanes.
inline void transpose_8x8(const std::byte* from, std::byte* transposed) {
  const std::byte* rows[8];
  for (int k = 0; k < 8; ++k) rows[k] = from + 16 * k;
  transpose_8x8(rows, transposed);
}

}  // namespace flashpath::exec
