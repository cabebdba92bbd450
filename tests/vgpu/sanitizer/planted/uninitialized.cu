// Reads of memory that nobody has written. Arrays handed in from the host count as written.

// The last tile is partial: what lies behind n is read all the same.
extern "C" __global__ void partial_tile(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  if (t < n) tile[t] = x[t];
  __syncthreads();
  y[t] = tile[63 - t];  // BUG: uninitialized
}

// The sum was never set to zero.
extern "C" __global__ void sum_from_anything(const int* x, int* y) {
  __shared__ int sum;
  atomicAdd(&sum, x[threadIdx.x]);  // BUG: uninitialized
  __syncthreads();
  if (threadIdx.x == 0) y[0] = sum;
}

// The halo's right end is forgotten.
extern "C" __global__ void half_a_halo(const float* x, float* y) {
  __shared__ float tile[66];
  const int t = threadIdx.x;
  tile[t + 1] = x[t];
  if (t == 0) tile[0] = 0;
  __syncthreads();
  float sum = tile[t] + tile[t + 1];
  sum += tile[t + 2];  // BUG: uninitialized
  y[t] = sum;
}

// Dynamic shared memory is not cleared either.
extern "C" __global__ void seen_before(const int* x, int* y) {
  extern __shared__ int seen[];
  if (threadIdx.x < 16) seen[threadIdx.x] = 0;
  __syncthreads();
  y[threadIdx.x] = seen[x[threadIdx.x]];  // BUG: uninitialized
}

// Only some entries of a local array are written.
extern "C" __global__ void local_table(const int* x, int* y) {
  int table[16];
  for (int i = 0; i < 16; i += 2) table[x[i] & 15] = i;
  y[threadIdx.x] = table[x[threadIdx.x] & 15];  // BUG: uninitialized
}

// The stack is popped once too often; its first entry was never pushed.
extern "C" __global__ void local_stack(const int* x, int* y, int n) {
  int stack[16];
  int top = 1;
  for (int i = 0; i < n; ++i) stack[top++ & 15] = x[i];
  int sum = 0;
  while (top > 0)
    sum += stack[--top & 15];  // BUG: uninitialized
  y[threadIdx.x] = sum;
}

// malloc gives memory with anything in it.
extern "C" __global__ void heap_sum(int* y, int n) {
  int* own = static_cast<int*>(malloc(n * sizeof(int)));
  int sum = 0;
  for (int i = 0; i < n; ++i)
    sum += own[i];  // BUG: uninitialized
  y[threadIdx.x] = sum;
  free(own);
}

extern "C" __global__ void heap_counters(const int* x, int* y) {
  __shared__ int* counters;
  if (threadIdx.x == 0) counters = static_cast<int*>(malloc(32 * sizeof(int)));
  __syncthreads();
  atomicAdd(&counters[x[threadIdx.x] & 31], 1);  // BUG: uninitialized
  __syncthreads();
  y[threadIdx.x] = counters[threadIdx.x & 31];
  __syncthreads();
  if (threadIdx.x == 0) free(counters);
}
