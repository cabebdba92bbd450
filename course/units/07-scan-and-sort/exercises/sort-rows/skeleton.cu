// Each row in rising order: out[r] is x[r] sorted, and index[r, i] the column that out[r, i] came from.
// Equal numbers stay in the order they came in. x, out, index: (rows, cols), cols at most BLOCK = 1024.
// A block of 256 threads for each row.
constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr unsigned kAll = 0xffffffff;

__device__ int warp_scan(int sum) {
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(kAll, sum, distance);
    sum += threadIdx.x % 32 >= distance ? left : 0;
  }
  return sum;
}

__global__ void sort_rows(int cols, const int* x, int* out, int* index) {
  __shared__ int keys[BLOCK];
  const int t = threadIdx.x;
  for (int i = t; i < cols; i += kThreads) {
    keys[i] = x[blockIdx.x * cols + i];
  }
  __syncthreads();

  // Every key counts those that stand before it. Replace this by radix passes.
  for (int i = t; i < cols; i += kThreads) {
    int place = 0;
    for (int k = 0; k < cols; ++k) {
      place += keys[k] < keys[i] || (keys[k] == keys[i] && k < i) ? 1 : 0;
    }
    out[blockIdx.x * cols + place] = keys[i];
    index[blockIdx.x * cols + place] = i;
  }
}
