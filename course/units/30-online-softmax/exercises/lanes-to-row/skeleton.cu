// lse[r] = log Σ e^x[r, c] over the columns c. x: (rows, cols), row by row, -inf where a column is masked; lse: (rows).
// Blocks of 128 threads: four warps, and a warp for each row.

// The state (m, l) takes another one in: m is the largest element, l is Σ e^(x - m). The empty state is (-inf, 0).
__device__ void join(float& m, float& l, float m_other, float l_other) {
  // TODO
}

__global__ void row_lse(int rows, int cols, const float* x, float* lse) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) {
    return;  // the whole warp at once
  }
  float m = -INFINITY, l = 0.0f;
  // TODO: each lane takes in its own elements, one by one, as states of one element.

  // TODO: five steps make one state of the 32 states of the lanes.

  if (lane == 0) {
    lse[row] = m + logf(l);
  }
}
