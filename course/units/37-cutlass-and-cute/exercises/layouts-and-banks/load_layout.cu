// One warp loads a tile of 8 × 4 floats from global memory that has the layout (8,4):(row_stride,col_stride).
__global__ void load_layout(int row_stride, int col_stride, const float* x, float* out) {
  const int k = threadIdx.x;
  out[k] = x[k % 8 * row_stride + k / 8 * col_stride];
}
