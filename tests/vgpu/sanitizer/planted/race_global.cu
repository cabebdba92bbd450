// Data races in global memory: within a warp, within a block, and between the blocks of one launch.

// Each thread reads its neighbour's element while the neighbour overwrites it.
extern "C" __global__ void shift_in_place(int* x, int n) {
  const int i = threadIdx.x;
  if (i + 1 < n)
    x[i] = x[i + 1];  // BUG: race
}

// The lanes of a warp pass values through global memory.
extern "C" __global__ void exchange_in_a_warp(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x * threadIdx.x;  // WITH
  y[threadIdx.x] = x[threadIdx.x ^ 1];  // BUG: race
}

// A smoothing in place: the elements at the borders of blocks are read and written by two blocks.
extern "C" __global__ void smooth_in_place(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = 0, right = 0;
  if (i < n) {
    left = i > 0 ? x[i - 1] : 0;  // WITH
    right = i + 1 < n ? x[i + 1] : 0;
  }
  __syncthreads();
  if (i < n)
    x[i] = (left + right) / 2;  // BUG: race
}

// Message passing between blocks; the flag may be seen before the data.
extern "C" __global__ void flag_without_fence(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  // WITH
    flag[0] = 1;
  } else {
    while (flag[0] == 0) {
    }
    out[0] = data[0];  // BUG: race
  }
}

// The same with a fence that orders the accesses for the threads of the block only.
extern "C" __global__ void fence_of_a_block(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  // WITH
    __threadfence_block();
    flag[0] = 1;
  } else {
    while (flag[0] == 0) {
    }
    __threadfence_block();
    out[0] = data[0];  // BUG: race
  }
}

// The writer has its fence, the reader has none.
extern "C" __global__ void fence_on_one_side(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[0] = 42;  // WITH
    __threadfence();
    flag[0] = 1;
  } else {
    while (flag[0] == 0) {
    }
    out[0] = data[0];  // BUG: race
  }
}

// An ordinary variable is no flag: neither volatile nor atomic.
extern "C" __global__ void weak_flag(int* flag, int* out) {
  if (blockIdx.x == 0) {
    __threadfence();
    flag[0] = 1;  // WITH
  } else {
    while (flag[0] == 0)  // BUG: race
      __threadfence();
    out[0] = 1;
  }
}

// A histogram between blocks, without atomics.
extern "C" __global__ void histogram_without_atomics(const unsigned char* x, int* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    bins[x[i]] += 1;  // BUG: race
}

// The last block adds up what the others wrote, but nothing made those writes visible.
extern "C" __global__ void last_block_without_fence(float* part, unsigned* arrived, float* sum) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x + 1.0f;  // WITH
    last = atomicAdd(arrived, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float total = 0;
    for (int i = 0; i < gridDim.x; ++i)
      total += part[i];  // BUG: race
    sum[0] = total;
  }
}

// Where several elements are equal, several blocks write where they are.
extern "C" __global__ void position_of(const int* x, int wanted, int* position, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] == wanted)
    position[0] = i;  // BUG: race
}

// One block sets the sum to zero while the others add to it.
extern "C" __global__ void cleared_by_one_block(const int* x, int* sum) {
  if (blockIdx.x == 0 && threadIdx.x == 0)
    sum[0] = 0;  // WITH
  __syncthreads();
  atomicAdd(sum, x[blockIdx.x * blockDim.x + threadIdx.x]);  // BUG: race
}

// A counter that others still add to, read as an ordinary variable.
extern "C" __global__ void counter_read_plainly(int* counter, int* seen) {
  atomicAdd(counter, 1);  // WITH
  if (threadIdx.x == 0)
    seen[blockIdx.x] = counter[0];  // BUG: race
}

// A lock without fences: atomics order nothing but themselves.
extern "C" __global__ void lock_without_fence(int* lock, int* counter) {
  if (threadIdx.x == 0) {
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    counter[0] += 1;  // BUG: race
    atomicExch(lock, 0);
  }
}

// Tiles that overlap by one: the element at the border has two writers.
extern "C" __global__ void overlapping_tiles(float* out, int n) {
  const int i = blockIdx.x * (blockDim.x - 1) + threadIdx.x;
  if (i < n)
    out[i] = blockIdx.x;  // BUG: race
}
