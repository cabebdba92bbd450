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
  if (row < queries) {
    for (int column = lane * 8; column < d; column += 64) {
      const uint4 x = *reinterpret_cast<const uint4*>(out + at + column);
      const uint4 y = *reinterpret_cast<const uint4*>(dout + at + column);
      const __half2* xs = reinterpret_cast<const __half2*>(&x);
      const __half2* ys = reinterpret_cast<const __half2*>(&y);
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 a = __half22float2(xs[i]);
        const float2 b = __half22float2(ys[i]);
        sum += a.x * b.x + a.y * b.y;
      }
    }
  }
  for (int distance = 4; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  }
  if (lane == 0) {
    delta[head * rounded + row] = sum * keep;
  }
  for (int column = lane * 4; column < d; column += 32) {
    *reinterpret_cast<float4*>(dq_accum + at + column) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
}
