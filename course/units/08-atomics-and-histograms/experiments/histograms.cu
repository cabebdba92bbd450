// Counts of n numbers from 0 to 1 in 128 bins, in four ways.
// counts: (128), 0 before the launch.
// Blocks of 256 threads; any number of them.
constexpr int kBins = 128;
constexpr int kWarps = 8;

__device__ int bin_of(float x) {
  return min(static_cast<int>(x * kBins), kBins - 1);
}

// Every number is an atomic in global memory.
__global__ void straight(int n, const float* x, int* counts) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    atomicAdd(&counts[bin_of(x[i])], 1);
  }
}

// A copy of the counts for each block.
__global__ void per_block(int n, const float* x, int* counts) {
  __shared__ int copy[kBins];
  if (threadIdx.x < kBins) {
    copy[threadIdx.x] = 0;
  }
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    atomicAdd(&copy[bin_of(x[i])], 1);
  }
  __syncthreads();
  if (threadIdx.x < kBins) {
    atomicAdd(&counts[threadIdx.x], copy[threadIdx.x]);
  }
}

// A copy for each warp.
__global__ void per_warp(int n, const float* x, int* counts) {
  __shared__ int copies[kWarps][kBins];
  for (int w = 0; w < kWarps; ++w) {
    if (threadIdx.x < kBins) {
      copies[w][threadIdx.x] = 0;
    }
  }
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    atomicAdd(&copies[threadIdx.x / 32][bin_of(x[i])], 1);
  }
  __syncthreads();
  if (threadIdx.x < kBins) {
    int sum = 0;
    for (int w = 0; w < kWarps; ++w) {
      sum += copies[w][threadIdx.x];
    }
    atomicAdd(&counts[threadIdx.x], sum);
  }
}

// In global memory, but lanes with the same bin send one of them.
// n is a multiple of 32.
__global__ void joined(int n, const float* x, int* counts) {
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    const int bin = bin_of(x[i]);
    const unsigned same = __match_any_sync(0xffffffff, bin);
    if (threadIdx.x % 32 == __ffs(same) - 1) {
      atomicAdd(&counts[bin], __popc(same));
    }
  }
}
