// One warp: lane k reads x[31 - k], the neighbours in the other direction.
__global__ void backwards(const float* x, float* out) {
  const int k = threadIdx.x;
  out[k] = x[31 - k];
}
