// out[r] = x[r, 0] + x[r, 1] + … + x[r, cols - 1]. x: (rows, cols), row by row; out: (rows).
// A block of 256 threads for each row.
constexpr int kThreads = 256;

__global__ void block_sum(int cols, const float* x, float* out) {
  __shared__ float sums[kThreads];
  const int t = threadIdx.x;
  const float* row = x + blockIdx.x * cols;

  float sum = 0.0f;
  for (int c = t; c < cols; c += kThreads) {
    sum += row[c];
  }
  sums[t] = sum;
  __syncthreads();
  for (int stride = kThreads / 2; stride > 0; stride /= 2) {
    if (t < stride) {
      sums[t] += sums[t + stride];
    }
    __syncthreads();
  }
  if (t == 0) {
    out[blockIdx.x] = sums[0];
  }
}
