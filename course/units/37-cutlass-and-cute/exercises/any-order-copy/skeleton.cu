// out(row, col) = x(row, col), for two tensors: x has the layout (rows,cols):(x_row,x_col), out (rows,cols):(out_row,out_col).
// One thread for each element, in a grid of one dimension.
__global__ void copy_tile(int rows, int cols, int x_row, int x_col, int out_row, int out_col, const float* x,
                          float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // TODO: the coordinate that thread i copies, so that neighbouring lanes touch neighbouring elements; then the copy
  if (i < 0) {
    out[i * out_row] = x[i * x_row];
  }
}
