// One warp: even lanes read from the beginning of x, odd lanes from x[1024] on.
__global__ void two_runs(const float* x, float* out) {
  const int k = threadIdx.x;
  out[k] = x[k % 2 * 1024 + k / 2];
}
