// counts[0] += how many of the n numbers are negative, counts[1] += how many are 0, counts[2] += how many are positive.
// At most eight blocks of 256 threads, however long x is. There is no NaN in x.
constexpr int kThreads = 256;
constexpr unsigned kAll = 0xffffffff;

__global__ void three_signs(int n, const float* x, int* counts) {
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    const int sign = x[i] < 0.0f ? 0 : x[i] == 0.0f ? 1 : 2;
    atomicAdd(&counts[sign], 1);  // TODO: one atomic for a warp, not one for each number
  }
}
