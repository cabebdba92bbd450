// Quads: four neighbours of a row of floats, moved by one instruction of 16 bytes. The fast float rungs are made of
// them.
#pragma once

// Four floats of a matrix; zeros outside of it. kAligned: the matrix begins at a multiple of 16 bytes and its rows are
// a multiple of 4 long, so that a quad which begins inside a row also ends there. Elsewhere they are loaded one by one.
template <bool kAligned>
__device__ float4 load_quad(const float* __restrict__ matrix, int rows, int columns, int i, int j) {
  float4 quad = {0, 0, 0, 0};
  if (i < rows && j < columns) {
    const float* from = matrix + i * (long long)columns + j;
    if (kAligned) {
      return *reinterpret_cast<const float4*>(from);
    }
    quad.x = from[0];
    if (j + 1 < columns) quad.y = from[1];
    if (j + 2 < columns) quad.z = from[2];
    if (j + 3 < columns) quad.w = from[3];
  }
  return quad;
}

template <bool kAligned>
__device__ void store_quad(float* __restrict__ matrix, int rows, int columns, int i, int j, float4 quad) {
  if (i < rows && j < columns) {
    float* to = matrix + i * (long long)columns + j;
    if (kAligned) {
      *reinterpret_cast<float4*>(to) = quad;
      return;
    }
    to[0] = quad.x;
    if (j + 1 < columns) to[1] = quad.y;
    if (j + 2 < columns) to[2] = quad.z;
    if (j + 3 < columns) to[3] = quad.w;
  }
}

// Quads of shared memory, `apart` floats from each other, to registers.
template <int kFloats>
__device__ void read_quads(const float* from, int apart, float (&to)[kFloats]) {
  static_assert(kFloats % 4 == 0, "whole quads");
#pragma unroll
  for (int quad = 0; quad < kFloats / 4; ++quad) {
    const float4 four = *reinterpret_cast<const float4*>(from + quad * apart);
    to[4 * quad + 0] = four.x;
    to[4 * quad + 1] = four.y;
    to[4 * quad + 2] = four.z;
    to[4 * quad + 3] = four.w;
  }
}

// sum (kM, kN) += column (kM) × row (kN)
template <int kM, int kN>
__device__ void add_outer_product(float (&sum)[kM][kN], const float (&column)[kM], const float (&row)[kN]) {
#pragma unroll
  for (int i = 0; i < kM; ++i) {
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      sum[i][j] += column[i] * row[j];
    }
  }
}

// A thread's results: squares of 4 × 4, the first at (i, j), the others `apart_i` rows and `apart_j` columns away.
template <bool kAligned, int kM, int kN>
__device__ void store_squares(float* __restrict__ out, int m, int n, int i, int apart_i, int j, int apart_j,
                              const float (&sum)[kM][kN]) {
#pragma unroll
  for (int row = 0; row < kM; ++row) {
#pragma unroll
    for (int quad = 0; quad < kN / 4; ++quad) {
      const float* four = &sum[row][4 * quad];
      store_quad<kAligned>(out, m, n, i + row / 4 * apart_i + row % 4, j + quad * apart_j,
                           {four[0], four[1], four[2], four[3]});
    }
  }
}
