// What comes before the main kernel: a number for each row, and zeros where dQ is added up.
// out, dout: (queries, heads, d), fp16, d a multiple of 8. rounded: queries, up to a multiple of 32.
// delta: (heads, rounded), float: keep · Σ dout · out, and 0 in the rows beyond the last.
// dq_accum: (rows, heads, d), float: its first rounded rows become 0; the others belong to the next sequence and stay.
// blockIdx.x: 32 rows, blockIdx.y: the head. 256 threads, eight to a row, each with 8 columns at a time.
#include <cuda_fp16.h>

__global__ void preprocess(int queries, int heads, int d, int rounded, float keep, const __half* out, const __half* dout,
                           float* delta, float* dq_accum) {
  const int head = blockIdx.y;
  const int row = blockIdx.x * 32 + threadIdx.x / 8;
  const int lane = threadIdx.x % 8;
  const long long at = ((long long)row * heads + head) * d;
  float sum = 0.0f;
  // TODO: the products of this lane's columns; then the sum over the eight lanes of the row
  if (lane == 0) {
    delta[head * rounded + row] = sum * keep;
  }
  // TODO: zeros for this row of dq_accum, 16 bytes at a time
}
