// The same by way of shared memory: the block of 256 threads copies 2,048 flags, neighbours by neighbouring lanes, and
// then each thread takes its eight.
__global__ void staged(const int* x, unsigned char* out) {
  __shared__ int tile[2048];
  const int t = threadIdx.x;
  for (int k = 0; k < 8; ++k) {
    tile[256 * k + t] = x[2048 * blockIdx.x + 256 * k + t];
  }
  __syncthreads();
  const volatile int* flags = tile + 8 * t;  // volatile: eight loads of a word each
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= (flags[k] != 0) << (7 - k);
  }
  out[256 * blockIdx.x + t] = bits;
}
