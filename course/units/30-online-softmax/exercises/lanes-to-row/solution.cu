// lse[r] = log Σ e^x[r, c] over the columns c. x: (rows, cols), row by row, -inf where a column is masked; lse: (rows).
// Blocks of 128 threads: four warps, and a warp for each row.

// The state (m, l) takes another one in: m is the largest element, l is Σ e^(x - m). The empty state is (-inf, 0).
__device__ void join(float& m, float& l, float m_other, float l_other) {
  const float larger = fmaxf(m, m_other);
  const float base = larger == -INFINITY ? 0.0f : larger;
  l = l * expf(m - base) + l_other * expf(m_other - base);
  m = larger;
}

__global__ void row_lse(int rows, int cols, const float* x, float* lse) {
  const int lane = threadIdx.x % 32;
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) {
    return;  // the whole warp at once
  }
  float m = -INFINITY, l = 0.0f;
  for (int c = lane; c < cols; c += 32) {
    join(m, l, x[row * cols + c], 1.0f);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const float m_other = __shfl_xor_sync(0xffffffff, m, distance);
    const float l_other = __shfl_xor_sync(0xffffffff, l, distance);
    join(m, l, m_other, l_other);
  }
  if (lane == 0) {
    lse[row] = m + logf(l);
  }
}
