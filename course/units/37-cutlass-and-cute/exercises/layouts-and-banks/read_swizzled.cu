// As read_layout, but the index is swizzled: its bits 5 to 7 are XORed into its bits 2 to 4, Sw<3,2,3>.
__global__ void read_swizzled(int row_stride, int col_stride, float* out) {
  __shared__ float words[1024];
  const int k = threadIdx.x;
  for (int i = k; i < 1024; i += 32) {
    words[i] = i;
  }
  __syncthreads();
  const int index = k % 8 * row_stride + k / 8 * col_stride;
  out[k] = words[index ^ (index >> 3 & 28)];
}
