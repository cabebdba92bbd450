// Every thread counts, over its own numbers, how many are 0, 1, 2 and 3 modulo 4.
// out[c * gridDim.x * blockDim.x + t] is what thread t of the grid has counted of class c.
__global__ void class_counts(int n, const int* x, int* out) {
  const int threads = gridDim.x * blockDim.x;
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  int counts[4] = {0, 0, 0, 0};
  for (int i = t; i < n; i += threads) {
    ++counts[x[i] & 3];  // TODO: an index that is known at run time only, so counts lies in local memory
  }
  for (int c = 0; c < 4; ++c) out[c * threads + t] = counts[c];
}
