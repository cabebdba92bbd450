// The same by way of shared memory: the block of 256 threads copies 2,048 flags, word by word, and then each thread
// takes its eight.
__global__ void staged(const unsigned* x, unsigned char* out) {
  __shared__ unsigned tile[512];
  const int t = threadIdx.x;
  for (int k = 0; k < 2; ++k) {
    tile[256 * k + t] = x[512 * blockIdx.x + 256 * k + t];
  }
  __syncthreads();
  const volatile unsigned char* flags = (unsigned char*)tile + 8 * t;  // volatile: eight loads of a byte each
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= (flags[k] != 0) << (7 - k);
  }
  out[256 * blockIdx.x + t] = bits;
}
