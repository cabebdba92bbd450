// Correct: pipelines, barriers and atomics of libcu++.
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

// Two stages, shared by all threads of the block.
extern "C" __global__ void pipeline_of_a_block(const float* x, float* y, int tiles) {
  __shared__ float tile[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const int t = threadIdx.x;
  float sum = 0;
  int fetched = 0;
  for (int i = 0; i < tiles; ++i) {
    for (; fetched < tiles && fetched < i + 2; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tile[fetched % 2][t], &x[fetched * 64 + t], sizeof(float), pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    sum += tile[i % 2][63 - t];
    pipeline.consumer_release();
  }
  y[t] = sum;
}

// A pipeline of one thread: what it copies, only it reads.
extern "C" __global__ void pipeline_of_a_thread(const float* x, float* y, int tiles) {
  __shared__ float tile[2][64];
  auto pipeline = cuda::make_pipeline();
  const int t = threadIdx.x;
  float sum = 0;
  pipeline.producer_acquire();
  cuda::memcpy_async(&tile[0][t], &x[t], sizeof(float), pipeline);
  pipeline.producer_commit();
  for (int i = 0; i < tiles; ++i) {
    if (i + 1 < tiles) {
      pipeline.producer_acquire();
      cuda::memcpy_async(&tile[(i + 1) % 2][t], &x[(i + 1) * 64 + t], sizeof(float), pipeline);
      pipeline.producer_commit();
      cuda::pipeline_consumer_wait_prior<1>(pipeline);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipeline);
    }
    sum += tile[i % 2][t];
    pipeline.consumer_release();
  }
  y[t] = sum;
}

extern "C" __global__ void arrive_and_wait(const int* x, int* y) {
  __shared__ int tile[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  tile[threadIdx.x] = x[threadIdx.x];
  auto token = barrier.arrive();
  barrier.wait(static_cast<decltype(token)&&>(token));
  const int value = tile[63 - threadIdx.x];
  barrier.arrive_and_wait();
  tile[threadIdx.x] = value + 1;
  barrier.arrive_and_wait();
  y[threadIdx.x] = tile[threadIdx.x ^ 1];
}

extern "C" __global__ void barrier_with_copies(const float* x, float* y) {
  __shared__ float tile[64];
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(&tile[threadIdx.x], &x[threadIdx.x], sizeof(float), barrier);
  barrier.arrive_and_wait();
  y[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void release_and_acquire(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[0] = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    out[0] = data[0];
  }
}

// Fences of the standard around relaxed accesses.
extern "C" __global__ void relaxed_with_fences(int* data, int* flag, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    data[0] = 42;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    out[0] = data[0];
  }
}

// A lock made of one exchange with acquire and one store with release.
extern "C" __global__ void lock_of_atomic_ref(int* lock, int* counter) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> locked(*lock);
  while (locked.exchange(1, cuda::memory_order_acquire) == 1) {
  }
  counter[0] += 1;
  locked.store(0, cuda::memory_order_release);
}

// One warp tells the others of its block.
extern "C" __global__ void flag_of_a_block(const int* x, int* y) {
  __shared__ int value;
  __shared__ int flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> ready(flag);
  if (threadIdx.x == 0) {
    value = x[0];
    ready.store(1, cuda::memory_order_release);
  }
  while (ready.load(cuda::memory_order_acquire) == 0) {
  }
  y[threadIdx.x] = value;
}

// The count itself carries the order: each addition releases, the last one acquires.
extern "C" __global__ void last_one_by_order(int* part, unsigned* arrived, int* sum) {
  if (threadIdx.x != 0) return;
  part[blockIdx.x] = blockIdx.x + 1;
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> count(*arrived);
  if (count.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) {
    int total = 0;
    for (int i = 0; i < gridDim.x; ++i) total += part[i];
    sum[0] = total;
  }
}
