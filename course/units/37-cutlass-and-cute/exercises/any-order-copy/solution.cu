// out(row, col) = x(row, col), for two tensors: x has the layout (rows,cols):(x_row,x_col), out (rows,cols):(out_row,out_col).
// One thread for each element, in a grid of one dimension.
__global__ void copy_tile(int rows, int cols, int x_row, int x_col, int out_row, int out_col, const float* x,
                          float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) {
    const bool along_rows = out_col <= out_row;  // neighbouring lanes differ in the mode of the smaller stride
    const int row = along_rows ? i / cols : i % rows;
    const int col = along_rows ? i % cols : i / rows;
    out[row * out_row + col * out_col] = x[row * x_row + col * x_col];
  }
}
