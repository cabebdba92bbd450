// out = x / sqrt(mean of x² + eps) * weight, of each row. x, out: (rows, cols), row by row; weight: (cols).
// A block of 192 threads, six warps, for each row.
constexpr int kThreads = 192;
constexpr int kWarps = kThreads / 32;

// The sum over the warp, for every lane of it.
__device__ float warp_sum(float sum) {
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(0xffffffff, sum, distance);
  }
  return sum;
}

__global__ void block_norm(int cols, const float* x, const float* weight, float eps, float* out) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float* row = x + blockIdx.x * cols;

  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    squares += row[c] * row[c];
  }
  squares = warp_sum(squares);
  if (lane == 0) {
    of_warp[warp] = squares;
  }
  __syncthreads();
  if (warp == 0) {  // the first warp adds up what all have
    squares = warp_sum(lane < kWarps ? of_warp[lane] : 0.0f);
    if (lane == 0) {
      of_warp[0] = squares;
    }
  }
  __syncthreads();

  const float scale = rsqrtf(of_warp[0] / cols + eps);
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[blockIdx.x * cols + c] = row[c] * scale * weight[c];
  }
}
