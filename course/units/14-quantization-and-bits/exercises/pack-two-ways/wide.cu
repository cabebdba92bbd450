// The same with one load of eight bytes for each thread, taken apart in registers.
__global__ void wide(const unsigned long long* x, unsigned char* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned long long flags = x[i];
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= ((flags >> (8 * k) & 0xff) != 0) << (7 - k);
  }
  out[i] = bits;
}
