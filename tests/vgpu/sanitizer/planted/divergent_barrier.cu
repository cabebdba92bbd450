// Barriers that not all threads of the block reach together.

// The condition differs between the lanes of a warp.
extern "C" __global__ void barrier_in_a_branch(const int* x, int* y) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (x[threadIdx.x] > 0) {
    atomicAdd(&sum, x[threadIdx.x]);
    __syncthreads();  // BUG: divergent-barrier
  }
  y[threadIdx.x] += 1;
}

// The border lies within a warp: only some of its lanes have something to load, and wait for it.
extern "C" __global__ void barrier_for_some(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  tile[t] = 0;
  if (t < n) {
    tile[t] = x[t];
    __syncthreads();  // BUG: divergent-barrier
  }
  y[t] += tile[t];
}

// Each thread goes through the loop as often as its own number says.
extern "C" __global__ void barrier_in_a_loop(const int* rounds, int* y) {
  int sum = 0;
  for (int i = 0; i < rounds[threadIdx.x]; ++i) {
    sum += i;
    __syncthreads();  // BUG: divergent-barrier
  }
  y[threadIdx.x] += sum;
}

// Two barriers in two branches are two barriers.
extern "C" __global__ void barrier_in_each_branch(const int* x, int* y) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = x[t];
  if (t % 2 == 0) {
    tile[t] += 2;
    __syncthreads();  // BUG: divergent-barrier
    y[t] = tile[t] * 3;
  } else {
    tile[t] -= 1;
    __syncthreads();  // OR
    y[t] = tile[t] * 5;
  }
}
