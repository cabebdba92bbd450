// out[r, c] = d[r, c] / (1 + max over c of |d[r, c]|), where d[r, c] = x[r, c] - mean of row r.
// x, out: (rows, cols), row by row; cols is at most 4,096. A block of 256 threads for each row.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kMostCols = 4096;

__device__ float add(float a, float b) { return a + b; }

// Combines the values of the 256 threads of a block; all of them get the result.
template <float (*combine)(float, float)>
__device__ float of_block(float value) {
  __shared__ float of_warp[kWarps];
  for (int distance = 16; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xffffffff, value, distance));
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  value = of_warp[0];
  for (int warp = 1; warp < kWarps; ++warp) {
    value = combine(value, of_warp[warp]);
  }
  return value;
}

__global__ void centre_rows(int cols, const float* x, float* out) {
  __shared__ float row[kMostCols];
  const long long first = (long long)blockIdx.x * cols;

  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    row[c] = x[first + c];
    sum += row[c];
  }
  const float mean = of_block<add>(sum) / cols;

  float most = 0.0f;
  for (int c = threadIdx.x; c < cols; c += kThreads) {
    row[c] -= mean;
    most = fmaxf(most, fabsf(row[c]));
  }
  const float divisor = 1.0f + of_block<fmaxf>(most);

  for (int c = threadIdx.x; c < cols; c += kThreads) {
    out[first + c] = row[c] / divisor;
  }
}
