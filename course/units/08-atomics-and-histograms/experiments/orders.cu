// total[0] += the sum of n floats, by blocks of 32 threads, in whatever order
// blocks come.
__global__ void sum(int n, const float* x, float* total) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) {
    atomicAdd(total, x[i]);
  }
}

// The same in whole units of 2^-20.
__global__ void sum_of_units(int n, const float* x, unsigned long long* total) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i < n) {
    const long long units = __float2ll_rn(x[i] * 1048576.0f);
    atomicAdd(total, static_cast<unsigned long long>(units));
  }
}
