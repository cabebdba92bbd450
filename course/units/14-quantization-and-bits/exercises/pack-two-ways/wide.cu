// The same with two loads of 16 bytes for each thread.
__global__ void wide(const int* x, unsigned char* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned bits = 0;
  for (int half = 0; half < 2; ++half) {
    const int4 flags = reinterpret_cast<const int4*>(x)[2 * i + half];
    bits = bits << 4 | (flags.x != 0) << 3 | (flags.y != 0) << 2 | (flags.z != 0) << 1 | (flags.w != 0);
  }
  out[i] = bits;
}
