// A block of 16 × 16 threads, as in a matrix product: warp w has the rows 2 w and 2 w + 1.
__global__ void square(float* out) {
  __shared__ float tile[16][16];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = x;
  __syncthreads();
  out[16 * y + x] = tile[x][y];
}
