// Correct: asynchronous copies, waited for.

__device__ void copy_async(void* to, const void* from) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address), "l"(from) : "memory");
}
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kGroups>
__device__ void wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kGroups) : "memory");
}

// A thread that reads only what it copied itself needs no barrier.
extern "C" __global__ void own_copies(const float* x, float* y) {
  __shared__ float tile[64];
  copy_async(&tile[threadIdx.x], &x[threadIdx.x]);
  commit();
  wait<0>();
  y[threadIdx.x] = 2 * tile[threadIdx.x];
}

extern "C" __global__ void wait_for_all(const float* x, float* y) {
  __shared__ float tile[64];
  copy_async(&tile[threadIdx.x], &x[threadIdx.x]);
  asm volatile("cp.async.wait_all;" ::: "memory");
  __syncthreads();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void two_buffers(const float* x, float* y, int tiles) {
  __shared__ float tile[2][64];
  const int t = threadIdx.x;
  float sum = 0;
  copy_async(&tile[0][t], &x[t]);
  commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      copy_async(&tile[(i + 1) % 2][t], &x[(i + 1) * 64 + t]);
      commit();
      wait<1>();
    } else {
      wait<0>();
    }
    __syncthreads();
    sum += tile[i % 2][63 - t];
    __syncthreads();
  }
  y[t] = sum;
}

// Three stages, one barrier a round: a group is committed in every round, empty ones at the end.
extern "C" __global__ void three_stages(const float* x, float* y, int tiles) {
  __shared__ float tile[3][64];
  const int t = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 2; ++i) {
    if (i < tiles) copy_async(&tile[i][t], &x[i * 64 + t]);
    commit();
  }
  for (int i = 0; i < tiles; ++i) {
    wait<1>();
    __syncthreads();
    if (i + 2 < tiles) copy_async(&tile[(i + 2) % 3][t], &x[(i + 2) * 64 + t]);
    commit();
    sum += tile[i % 3][63 - t];
  }
  y[t] = sum;
}

// The copies arrive at an mbarrier, where the readers wait.
extern "C" __global__ void copies_at_an_mbarrier(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(address) : "memory");
  __syncthreads();
  copy_async(&tile[threadIdx.x], &x[threadIdx.x]);
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(address) : "memory");
  unsigned done = 0;
  while (!done) {
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(address)
                 : "memory");
  }
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

// A buffer is used again for plain stores, once its copies have been waited for and read.
extern "C" __global__ void reused_for_stores(const float* x, float* y) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  copy_async(&tile[t], &x[t]);
  commit();
  wait<0>();
  __syncthreads();
  const float other = tile[63 - t];
  __syncthreads();
  tile[t] = other + 1;
  __syncthreads();
  y[t] = tile[t ^ 1];
}
