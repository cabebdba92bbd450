// A thread packs eight neighbouring flags into a byte in big order, and loads them one by one.
__global__ void bytewise(const int* x, unsigned char* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= (x[8 * i + k] != 0) << (7 - k);
  }
  out[i] = bits;
}
