// One warp: lane k reads every third double, of 8 bytes.
__global__ void doubles(const double* d, float* out) {
  const int k = threadIdx.x;
  out[k] = d[3 * k];
}
