// out[r, :] = softmax(s[r, :]) v and lse[r] = log Σ e^s[r, :], in one pass; a warp for each row, four of them in a block.
// s: (rows, keys), -inf where a key is masked. v: (8, keys), transposed: the numbers c of all keys lie side by side.
// out: (rows, 8), fp16 as s and v; lse: (rows), float. Of a row that sees nothing, 0 and -inf.
#include <cuda_fp16.h>

constexpr int kDim = 8;

__global__ void attend(int rows, int keys, const __half* s, const __half* v, __half* out, float* lse) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) {
    return;  // the whole warp at once
  }
  float m = -INFINITY, l = 0.0f, o[kDim] = {};  // of the keys that this lane has seen
  // TODO: the lane's keys, one by one.

  // TODO: one state from the 32 states of the lanes; then divide, and store out and lse.
}
