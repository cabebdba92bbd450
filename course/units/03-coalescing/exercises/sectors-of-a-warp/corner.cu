// One warp, as a block of 8 × 4 threads: it reads the upper left corner of an image with rows of 100 floats.
__global__ void corner(const float* x, float* out) {
  out[8 * threadIdx.y + threadIdx.x] = x[100 * threadIdx.y + threadIdx.x];
}
