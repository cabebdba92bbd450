// Threads that wait for something that never comes.

#define TEST_WAIT(done, address, token)                                                                 \
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"     \
               : "=r"(done)                                                                             \
               : "r"(address), "l"(token)                                                               \
               : "memory")

// The barrier expects 64 threads, and 32 of them never come.
extern "C" __global__ void barrier_for_more(int* y) {
  if (threadIdx.x < 32) {
    asm volatile("barrier.sync 1, 64;" ::: "memory");  // BUG: deadlock
    y[threadIdx.x] = 1;
  }
}

extern "C" __global__ void flag_that_nobody_sets(volatile int* flag, int* y) {
  if (threadIdx.x == 0) {
    while (flag[0] == 0) {  // BUG: deadlock
    }
    y[0] = 1;
  }
}

// Both blocks hold one lock and want the other.
extern "C" __global__ void locks_in_two_orders(int* locks, int* held, int* y) {
  const int mine = blockIdx.x, other = 1 - blockIdx.x;
  while (atomicCAS(&locks[mine], 0, 1) != 0) {
  }
  __threadfence();
  atomicExch(&held[mine], 1);
  while (atomicAdd(&held[other], 0) == 0) {
  }
  while (atomicCAS(&locks[other], 0, 1) != 0) {  // BUG: deadlock
  }
  y[mine] = 1;
}

// Both wait only if each has its first lock before the other has its second.
extern "C" __global__ void locks_in_two_orders_sometimes(int* locks, int* y) {
  const int mine = blockIdx.x, other = 1 - blockIdx.x;
  while (atomicCAS(&locks[mine], 0, 1) != 0) {  // OR
  }
  while (atomicCAS(&locks[other], 0, 1) != 0) {  // BUG: deadlock
  }
  atomicAdd(y, 1);
  atomicExch(&locks[other], 0);
  atomicExch(&locks[mine], 0);
}

// One way out of the critical section forgets to open the lock.
extern "C" __global__ void lock_not_released(int* lock, const int* x, int* y) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {  // BUG: deadlock
  }
  __threadfence();
  if (x[blockIdx.x] == 0) return;
  y[0] += x[blockIdx.x];
  __threadfence();
  atomicExch(lock, 0);
}

// A lane takes the lock twice.
extern "C" __global__ void lock_taken_twice(int* lock, int* y) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  y[0] += 1;
  while (atomicCAS(lock, 0, 1) != 0) {  // BUG: deadlock
  }
  y[1] += 1;
  atomicExch(lock, 0);
}

// The mbarrier expects one arrival more than there are threads.
extern "C" __global__ void arrival_that_is_missing(int* y) {
  __shared__ __align__(8) unsigned long long barrier;
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
  if (threadIdx.x == 0)
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address), "r"(blockDim.x + 1) : "memory");
  __syncthreads();
  unsigned long long token;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(token) : "r"(address) : "memory");
  unsigned done = 0;
  while (!done)  // OR
    TEST_WAIT(done, address, token);  // BUG: deadlock
  y[threadIdx.x] = 1;
}
