// Accesses outside of every array.

extern "C" __global__ void one_too_many(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n)
    x[i] = 1;  // BUG: out-of-bounds
}

extern "C" __global__ void left_neighbour(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    y[i] = x[i - 1];  // BUG: out-of-bounds
}

extern "C" __global__ void null_pointer(const int* x, int* optional) {
  if (x[threadIdx.x] > 0)
    optional[threadIdx.x] = 1;  // BUG: out-of-bounds
}

extern "C" __global__ void rows_and_columns_swapped(const float* x, float* y, int rows, int columns) {
  const int row = blockIdx.x, column = threadIdx.x;
  if (row < rows && column < columns)
    y[row * columns + column] = x[column * columns + row];  // BUG: out-of-bounds
}

// Four floats at once, where fewer are left.
extern "C" __global__ void four_at_the_end(const float* x, float* y, int n) {
  const int i = 4 * threadIdx.x;
  if (i < n) {
    const float4 four = *reinterpret_cast<const float4*>(x + i);  // BUG: out-of-bounds
    y[threadIdx.x] = four.x + four.y + four.z + four.w;
  }
}

extern "C" __global__ void bin_that_is_not_there(const int* x, int* bins) {
  atomicAdd(&bins[x[threadIdx.x]], 1);  // BUG: out-of-bounds
}

// The launch gives fewer bytes of shared memory than the kernel uses.
extern "C" __global__ void too_little_shared(const float* x, float* y) {
  extern __shared__ float tile[];
  tile[threadIdx.x] = x[threadIdx.x];  // BUG: out-of-bounds
  __syncthreads();
  y[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

// A halo of one on both sides needs two more elements, not one.
extern "C" __global__ void halo_in_shared(const float* x, float* y) {
  __shared__ float tile[65];
  const int t = threadIdx.x;
  tile[t + 1] = x[t];
  if (t == 0) tile[0] = 0;
  if (t == 63)
    tile[t + 2] = 0;  // BUG: out-of-bounds
  __syncthreads();
  y[t] = tile[t] + tile[t + 1];
}

extern "C" __global__ void before_shared(const int* x, int* y) {
  extern __shared__ int words[];
  words[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = words[x[threadIdx.x]];  // BUG: out-of-bounds
}

extern "C" __global__ void local_digits(const int* x, int* y) {
  int digits[8] = {};
  int rest = x[threadIdx.x], count = 0;
  while (rest > 0) {
    digits[count] = rest % 10;  // BUG: out-of-bounds
    rest /= 10;
    count++;
  }
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += digits[i] * (i + x[0]);
  y[threadIdx.x] = sum;
}

extern "C" __global__ void copy_too_far(const float* x, float* y) {
  __shared__ __align__(16) float tile[128];
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * threadIdx.x]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(x + 4 * threadIdx.x));  // BUG: out-of-bounds
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void heap_past_the_end(int* y, int n) {
  int* own = static_cast<int*>(malloc(n * sizeof(int)));
  for (int i = 0; i <= n; ++i)
    own[i] = i;  // BUG: out-of-bounds
  y[threadIdx.x] = own[n - 1];
  free(own);
}

extern "C" __global__ void heap_after_free(int* y, int n) {
  int* own = static_cast<int*>(malloc(n * sizeof(int)));
  for (int i = 0; i < n; ++i) own[i] = i;
  free(own);
  y[threadIdx.x] = own[y[threadIdx.x]];  // BUG: out-of-bounds
}
