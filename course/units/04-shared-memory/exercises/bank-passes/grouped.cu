// One warp: four neighbouring lanes read the same word; the words of the groups are stride apart.
__global__ void grouped(int stride, float* out) {
  __shared__ float words[8 * 64];
  const int k = threadIdx.x;
  for (int i = k; i < 8 * 64; i += 32) {
    words[i] = i;
  }
  __syncthreads();
  out[k] = words[k / 4 * stride];
}
