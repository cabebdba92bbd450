// Correct: blocks of one launch that talk to each other, by fences and atomics.

// The last block to come adds up what all have left.
extern "C" __global__ void last_block_sums(const float* x, float* part, unsigned* arrived, float* sum) {
  __shared__ float values[64];
  __shared__ bool last;
  const int t = threadIdx.x;
  values[t] = x[blockIdx.x * 64 + t];
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) values[t] += values[t + half];
  }
  if (t == 0) {
    part[blockIdx.x] = values[0];
    __threadfence();
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && t == 0) {
    float total = 0;
    for (int i = 0; i < gridDim.x; ++i) total += part[i];
    sum[0] = total;
    arrived[0] = 0;  // ready for the next launch
  }
}

// As CUDA's own sample has it: no fence after the counter, but the parts are read as volatile.
extern "C" __global__ void last_block_volatile(volatile float* part, unsigned* arrived, float* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x + 1.0f;
    __threadfence();
    last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < gridDim.x; ++i) total += part[i];
    sum[0] = total;
  }
}

extern "C" __global__ void message(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = 40 + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      flag[0] = 1;
    }
  } else {
    if (threadIdx.x == 0) {
      while (flag[0] == 0) {
      }
      __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = data[threadIdx.x ^ 1];
  }
}

// The same with acquire and release in PTX.
extern "C" __global__ void message_acquire_release(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;
    asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(flag) : "memory");
  } else {
    int ready = 0;
    while (!ready) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(ready) : "l"(flag) : "memory");
    out[0] = data[0];
  }
}

// A value goes from block to block.
extern "C" __global__ void chain(const int* x, volatile int* sums, volatile int* ready) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    while (ready[blockIdx.x - 1] == 0) {
    }
    __threadfence();
    before = sums[blockIdx.x - 1];
  }
  sums[blockIdx.x] = before + x[blockIdx.x];
  __threadfence();
  ready[blockIdx.x] = 1;
}

// A scan in one pass: each block publishes its sum, then looks back until it finds a prefix. A status and its
// value share a 64-bit word, so that they are seen together.
constexpr unsigned long long kSum = 1ull << 32, kPrefix = 2ull << 32;

extern "C" __global__ void look_back_scan(const int* x, int* y, unsigned long long* state, unsigned* next) {
  __shared__ int values[64];
  __shared__ int tile, before;
  const int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(next, 1u);
  __syncthreads();
  values[t] = x[tile * 64 + t];
  __syncthreads();
  for (int distance = 1; distance < 64; distance *= 2) {
    const int left = t >= distance ? values[t - distance] : 0;
    __syncthreads();
    values[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    const unsigned total = values[63];
    unsigned sum = 0;
    if (tile == 0) {
      atomicExch(&state[0], kPrefix | total);
    } else {
      atomicExch(&state[tile], kSum | total);
      for (int back = tile - 1; back >= 0;) {
        const unsigned long long seen = atomicAdd(&state[back], 0ull);
        if (seen >> 32 == 0) continue;
        sum += static_cast<unsigned>(seen);
        if (seen >> 32 == 2) break;
        --back;
      }
      atomicExch(&state[tile], kPrefix | (sum + total));
    }
    before = sum;
  }
  __syncthreads();
  y[tile * 64 + t] = before + values[t];
}

// The same with flags and values apart: volatile, and ordered by fences.
extern "C" __global__ void look_back_flags(const int* x, int* y, volatile int* sums, volatile int* prefixes,
                                           volatile int* flags, unsigned* next) {
  __shared__ int tile, before;
  __shared__ int values[32];
  const int t = threadIdx.x;
  if (t == 0) tile = atomicAdd(next, 1u);
  __syncthreads();
  int value = x[tile * 32 + t];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int left = __shfl_up_sync(~0u, value, distance);
    if (t >= distance) value += left;
  }
  values[t] = value;
  __syncthreads();
  if (t == 0) {
    sums[tile] = values[31];
    __threadfence();
    flags[tile] = 1;
    int sum = 0;
    for (int back = tile - 1; back >= 0;) {
      const int flag = flags[back];
      if (flag == 0) continue;
      __threadfence();
      if (flag == 2) {
        sum += prefixes[back];
        break;
      }
      sum += sums[back];
      --back;
    }
    prefixes[tile] = sum + values[31];
    __threadfence();
    flags[tile] = 2;
    before = sum;
  }
  __syncthreads();
  y[tile * 32 + t] = before + values[t];
}

extern "C" __global__ void spin_lock(int* lock, int* counter) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    __threadfence();
    counter[0] += blockIdx.x;
    counter[1] += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}

// Every lane takes the lock: those that wait must not hold up the one that has it.
extern "C" __global__ void spin_lock_in_a_warp(int* lock, int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      counter[0] += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// Volatile accesses are strong: they need no second fence to be no race.
extern "C" __global__ void spin_lock_volatile(int* lock, volatile int* counter) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  counter[0] = counter[0] + 1;
  __threadfence();
  atomicExch(lock, 0);
}

extern "C" __global__ void ticket_lock(unsigned* next, volatile unsigned* serving, int* log, int* length) {
  if (threadIdx.x != 0) return;
  const unsigned ticket = atomicAdd(next, 1u);
  while (*serving != ticket) {
  }
  __threadfence();
  log[*length] = ticket;
  *length += 1;
  __threadfence();
  *serving = ticket + 1;
}

// A barrier of the whole grid, made of a counter; all blocks must be resident.
extern "C" __global__ void barrier_of_the_grid(int* x, int* y, unsigned* arrived) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  x[i] = i * i;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1u);
    while (*static_cast<volatile unsigned*>(arrived) < gridDim.x) {
    }
    __threadfence();
  }
  __syncthreads();
  y[i] = x[n - 1 - i];
}

extern "C" __global__ void histogram_in_global(const unsigned char* x, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[x[i]], 1);
}

// Work is taken from a queue; all results are in places of their own.
extern "C" __global__ void work_queue(const int* x, int* y, int* next, int n) {
  __shared__ int item;
  for (;;) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    const int mine = item;
    __syncthreads();
    if (mine >= n) return;
    y[mine * 32 + threadIdx.x] = x[mine * 32 + threadIdx.x] * 2;
  }
}

// A flag that tells others to stop, set and read as volatile by everybody.
extern "C" __global__ void stop_early(const int* x, volatile int* stop, int* found, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && *stop == 0 && x[i] == 77) {
    *stop = 1;
    atomicMax(found, i);
  }
}

// A maximum of floats, by compare-and-swap.
extern "C" __global__ void float_maximum(const float* x, int* best, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int seen = *static_cast<volatile int*>(best);
  while (x[i] > __int_as_float(seen)) {
    const int before = atomicCAS(best, seen, __float_as_int(x[i]));
    if (before == seen) break;
    seen = before;
  }
}
