// One warp: lane k reads word k * stride of shared memory.
__global__ void strided(int stride, float* out) {
  __shared__ float words[32 * 64];
  const int k = threadIdx.x;
  for (int i = k; i < 32 * 64; i += 32) {
    words[i] = i;
  }
  __syncthreads();
  out[k] = words[k * stride];
}
