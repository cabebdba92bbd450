// Asynchronous copies that are read before they have arrived.

// Macros, so that what is found stands in the line that uses them.
#define COPY_ASYNC(to, from)                                                                \
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(                            \
                   static_cast<unsigned>(__cvta_generic_to_shared(to))),                    \
               "l"(from)                                                                    \
               : "memory")
#define COMMIT() asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(groups) asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory")

// A barrier waits for threads, not for copies.
extern "C" __global__ void barrier_is_no_wait(const float* x, float* y) {
  __shared__ float tile[64];
  COPY_ASYNC(&tile[threadIdx.x], &x[threadIdx.x]);
  COMMIT();
  __syncthreads();
  y[threadIdx.x] = tile[threadIdx.x];  // BUG: missing-wait
}

// wait_group 1 lets the latest group go on; here that is the one that is read.
extern "C" __global__ void one_group_too_many(const float* x, float* y, int tiles) {
  __shared__ float tile[2][64];
  const int t = threadIdx.x;
  float sum = 0;
  COPY_ASYNC(&tile[0][t], &x[t]);
  COMMIT();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      COPY_ASYNC(&tile[(i + 1) % 2][t], &x[(i + 1) * 64 + t]);
      COMMIT();
    }
    WAIT(1);
    __syncthreads();
    sum += tile[i % 2][63 - t];  // BUG: missing-wait
    __syncthreads();
  }
  y[t] = sum;
}

// What was not committed to a group is not waited for.
extern "C" __global__ void commit_forgotten(const float* x, float* y) {
  __shared__ float tile[64];
  COPY_ASYNC(&tile[threadIdx.x], &x[threadIdx.x]);
  WAIT(0);
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];  // BUG: missing-wait
}

// The tile is cleared while the copy into it is under way: either may come last.
extern "C" __global__ void written_during_copy(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  COPY_ASYNC(&tile[t], &x[t]);
  COMMIT();
  if (t >= n)
    tile[t] = 0;  // BUG: missing-wait
  WAIT(0);
  __syncthreads();
  y[t] = tile[t];
}

// Each thread waits for its own copies; to read those of others, a barrier is needed too.
extern "C" __global__ void wait_without_barrier(const float* x, float* y) {
  __shared__ float tile[64];
  COPY_ASYNC(&tile[threadIdx.x], &x[threadIdx.x]);  // WITH
  COMMIT();
  WAIT(0);
  y[threadIdx.x] = tile[63 - threadIdx.x];  // BUG: race
}
