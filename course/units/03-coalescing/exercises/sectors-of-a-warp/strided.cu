// One warp: lane k reads x[offset + k * stride].
__global__ void strided(int offset, int stride, const float* x, float* out) {
  const int k = threadIdx.x;
  out[k] = x[offset + k * stride];
}
