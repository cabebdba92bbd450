// The gradient of the scores under dropout, with the mask in the sign of the weights: negative where dropped.
// signed_p, dp: (rows, cols), float; delta: (rows). kept: (rows, cols), fp16, the weights that dV takes: 0 where dropped.
// ds: (rows, cols), fp16. blockIdx.y is the row, a thread has one column.
#include <cuda_fp16.h>

__global__ void gradient_of_scores(int rows, int cols, const float* signed_p, const float* dp, const float* delta,
                                   __half* kept, __half* ds) {
  const int row = blockIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (col >= cols) return;
  const int at = row * cols + col;
  const float weight = signed_p[at];
  const float gradient = dp[at];
  const float d = delta[row];
  kept[at] = __float2half(weight);  // TODO: 0 where the weight was dropped
  ds[at] = __float2half(weight * (gradient - d));  // TODO: what is dS of a dropped weight?
}
