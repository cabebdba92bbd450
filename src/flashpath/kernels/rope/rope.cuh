// What the rungs of rope share: where a token's angles are, and what they do to a pair.
//
// Tensors are (batch, sequence, heads, dim) with any strides but the last, which is 1; outputs are contiguous. Of each
// head, `pairs` pairs turn; what is left of it is copied. half: pair i is (x[i], x[i + pairs]); interleaved: (x[2 i],
// x[2 i + 1]).
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct RopeShape {
  long long q[3], k[3];           // strides of batch, sequence and head
  long long cosine[2], sine[2];   // strides of batch and row
  long long position[2];          // strides of batch and sequence, 0 where there is one for all
  long long offset;
  int sequence, rows, heads, kv_heads, dim, pairs;
  int counts;   // positions go up by one from token to token
  float sign;   // -1 turns back
};

// The row of angles of a token, or -1 where there is none: then nothing turns.
template <class Index>
__device__ long long angle_row(const RopeShape& shape, const Index* positions, int batch, int token) {
  long long row = shape.offset + (shape.counts ? token : 0);
  if (positions) row += positions[batch * shape.position[0] + token * shape.position[1]];
  return row >= 0 && row < shape.rows ? row : -1;
}

struct Pair {
  float first, second;
};

__device__ inline Pair turned(Pair x, float cosine, float sine) {
  return {fmaf(x.first, cosine, -(x.second * sine)), fmaf(x.second, cosine, x.first * sine)};
}
