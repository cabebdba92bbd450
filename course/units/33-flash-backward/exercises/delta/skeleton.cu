// What the backward pass wants to know of each row before it begins: delta = Σ_c o[r, c] · dout[r, c] − dlse[r], and lse
// as an exponent of 2, so that a weight is 2^(s · log₂ e − exponent); +inf where nothing was seen, lse = -inf.
// o, dout: (rows, d), half precision; lse, dlse, delta, exponent: (rows). Blocks of 128 threads, a warp for each row.
#include <cuda_fp16.h>
constexpr float kLog2E = 1.44269504f;
constexpr int kWarps = 4;

__global__ void prepare(int rows, int d, const __half* o, const __half* dout, const float* lse, const float* dlse,
                        float* delta, float* exponent) {
  const int row = blockIdx.x * kWarps + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  // TODO: the lanes' sums, added up over the warp

  if (lane == 0) {
    delta[row] = sum;
    exponent[row] = lse[row];  // TODO: as an exponent of 2, also where nothing was seen
  }
}
