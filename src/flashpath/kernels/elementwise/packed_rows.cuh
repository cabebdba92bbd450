// Where a pack lies in rows of `row_packs`, for a thread that walks over them: found by a multiplication, then carried
// on, since a 64-bit division is a call of about 100 instructions, and all loads would have to wait for it.
#pragma once

struct PackedRow {
  long long row, column;
  long long row_packs;

  // reciprocal: 2^64 / row_packs, rounded down: the row is right or one too low.
  __device__ PackedRow(long long pack, long long row_packs, unsigned long long reciprocal)
      : row(__umul64hi(pack, reciprocal)), row_packs(row_packs) {
    column = pack - row * row_packs;
    carry();
  }

  // Goes on by a step that the host has divided by row_packs: quotient and remainder.
  __device__ void advance(long long row_step, long long column_step) {
    row += row_step;
    column += column_step;
    carry();
  }

 private:
  __device__ void carry() {
    if (column >= row_packs) {
      column -= row_packs;
      ++row;
    }
  }
};
