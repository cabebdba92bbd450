// Which lane holds which element of a matrix, in which register.
//
// All fragments are made of pieces of eight rows. Lane 4g + t holds, of a piece's row g, the elements from
// t · kPerLane on, so that a register's 32 lanes, as they lie in the register file, are the piece row by row.
// What differs between shapes is only where the pieces stand. In the PTX ISA (mma) this is the table of each
// shape; for wmma, which PTX leaves open, it is the order that an H200 was seen to use, for every shape and type.
#pragma once

namespace flashpath::exec {

// The corner of a piece in its matrix.
struct Piece {
  int row;
  int column;
};

// The left factor, (row, k): slabs of 16 rows, in each of them the upper and the lower piece by turns.
template <int kRows_, int kColumns_, int kBits>
struct LeftFragment {
  static constexpr int kRows = kRows_;
  static constexpr int kColumns = kColumns_;
  static constexpr int kPerLane = kBits == 64 ? 1 : 32 / kBits;
  static constexpr int kWidth = 4 * kPerLane;
  static constexpr int kPieces = kRows / 8 * kColumns / kWidth;

  static constexpr Piece piece(int p) {
    if (kRows == 8) return {0, p * kWidth};
    constexpr int kPerSlab = 2 * kColumns / kWidth;
    return {16 * (p / kPerSlab) + 8 * (p % 2), p % kPerSlab / 2 * kWidth};
  }
};

// The right factor, (column of the product, k): all of k for eight columns, then the next eight.
template <int kRows_, int kColumns_, int kBits>
struct RightFragment {
  static constexpr int kRows = kRows_;
  static constexpr int kColumns = kColumns_;
  static constexpr int kPerLane = kBits == 64 ? 1 : 32 / kBits;
  static constexpr int kWidth = 4 * kPerLane;
  static constexpr int kPieces = kRows / 8 * kColumns / kWidth;

  static constexpr Piece piece(int p) {
    constexpr int kPerGroup = kColumns / kWidth;
    return {p / kPerGroup * 8, p % kPerGroup * kWidth};
  }
};

// The accumulators: pieces of 8×8, two neighbours of a row in each lane; in one register if they are halves,
// else in two.
template <int kRows_, int kColumns_>
struct AccumulatorFragment {
  static constexpr int kRows = kRows_;
  static constexpr int kColumns = kColumns_;
  static constexpr int kPerLane = 2;
  static constexpr int kWidth = 8;
  static constexpr int kPieces = kRows / 8 * kColumns / 8;

  static constexpr Piece piece(int p) { return {p % (kRows / 8) * 8, p / (kRows / 8) * 8}; }
};

}  // namespace flashpath::exec
