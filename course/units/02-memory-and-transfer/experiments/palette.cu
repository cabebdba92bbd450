// palette[c] = base + c * step, made by each thread; out[i] is the colour
// that code[i] names.
__global__ void by_index(int n, int base, int step, const int* code,
                         int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int palette[8];
  for (int c = 0; c < 8; ++c) palette[c] = base + c * step;
  // An index that is known at run time only: local memory.
  if (i < n) out[i] = palette[code[i] & 7];
}

__global__ void by_question(int n, int base, int step, const int* code,
                            int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int palette[8];
#pragma unroll
  for (int c = 0; c < 8; ++c) palette[c] = base + c * step;
  if (i < n) {
    const int wanted = code[i] & 7;
    int colour = palette[0];
#pragma unroll
    for (int c = 1; c < 8; ++c) {
      // Every index is a constant: registers.
      if (wanted == c) colour = palette[c];
    }
    out[i] = colour;
  }
}
