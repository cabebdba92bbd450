// Correct: lanes of one warp that talk to each other.

// Warp-synchronous code as it must be written: reads and writes kept apart by __syncwarp.
extern "C" __global__ void reduce_with_syncwarp(const float* x, float* sums) {
  __shared__ float part[4][32];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  part[warp][lane] = x[threadIdx.x];
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    float sum = 0;
    if (lane < half) sum = part[warp][lane] + part[warp][lane + half];
    __syncwarp();
    if (lane < half) part[warp][lane] = sum;
    __syncwarp();
  }
  if (lane == 0) sums[warp] = part[warp][0];
}

// Half a warp is enough of a group, if the mask says so.
extern "C" __global__ void reverse_halves(const int* x, int* y) {
  __shared__ int tile[32];
  const int lane = threadIdx.x;
  tile[lane] = x[lane];
  if (lane < 16) {
    __syncwarp(0x0000ffff);
    y[lane] = tile[15 - lane];
  } else {
    __syncwarp(0xffff0000);
    y[lane] = tile[47 - lane];
  }
}

extern "C" __global__ void reduce_with_shuffles(const float* x, float* sum, int n) {
  __shared__ float part[32];
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(~0u, mine, distance);
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (lane == 0) part[warp] = mine;
  __syncthreads();
  if (warp == 0) {
    mine = lane < blockDim.x / 32 ? part[lane] : 0;
    for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_down_sync(~0u, mine, distance);
    if (lane == 0) atomicAdd(sum, mine);
  }
}

// Lanes exchange through global memory.
extern "C" __global__ void exchange_through_global(int* x, int* y) {
  x[threadIdx.x] = threadIdx.x * threadIdx.x;
  __syncwarp();
  y[threadIdx.x] = x[threadIdx.x ^ 1];
}

// Each warp keeps its positive elements, in their order; one atomic per warp.
extern "C" __global__ void compact(const int* x, int* kept, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const bool keep = i < n && x[i] > 0;
  const unsigned keepers = __ballot_sync(~0u, keep);
  int first = 0;
  if (lane == 0) first = atomicAdd(count, __popc(keepers));
  first = __shfl_sync(~0u, first, 0);
  if (keep) kept[first + __popc(keepers & ((1u << lane) - 1))] = x[i];
}

// Lanes with the same key elect one that adds for all.
extern "C" __global__ void aggregate(const int* keys, int* counts) {
  const int key = keys[blockIdx.x * blockDim.x + threadIdx.x], lane = threadIdx.x % 32;
  const unsigned peers = __match_any_sync(__activemask(), key);
  if (lane == __ffs(peers) - 1) atomicAdd(&counts[key], __popc(peers));
}

extern "C" __global__ void votes(const int* x, unsigned* out) {
  const int value = x[threadIdx.x];
  const unsigned positive = __ballot_sync(~0u, value > 0);
  const unsigned same = __match_any_sync(~0u, value);
  out[threadIdx.x] = positive ^ same ^ __reduce_add_sync(~0u, value);
}

// A divergent branch whose members are asked for first.
extern "C" __global__ void sum_of_a_branch(const int* x, int* y) {
  const int value = x[threadIdx.x];
  const bool odd = value % 2 != 0;
  const unsigned members = __ballot_sync(~0u, odd);
  int sum = 0;
  if (odd) sum = __reduce_add_sync(members, value);
  y[threadIdx.x] = sum;
}
