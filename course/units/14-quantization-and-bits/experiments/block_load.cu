// Eight flags for each thread by CUB, and their byte in big order: whole tiles, and tiles that may end early.
#include <cub/block/block_load.cuh>

constexpr int kThreads = 256;
using Load = cub::BlockLoad<bool, kThreads, 8, cub::BLOCK_LOAD_VECTORIZE>;

__device__ unsigned char byte_of(const bool (&flags)[8]) {
  unsigned char bits = 0;
  for (int k = 0; k < 8; ++k) {
    bits |= flags[k] << (7 - k);
  }
  return bits;
}

// For n that are a multiple of 2048.
__global__ void whole(const bool* x, unsigned char* out) {
  __shared__ Load::TempStorage storage;
  bool flags[8];
  Load(storage).Load(x + blockIdx.x * kThreads * 8, flags);
  out[blockIdx.x * kThreads + threadIdx.x] = byte_of(flags);
}

__global__ void guarded(int n, const bool* x, unsigned char* out) {
  __shared__ Load::TempStorage storage;
  const int first = blockIdx.x * kThreads * 8;
  bool flags[8];
  Load(storage).Load(x + first, flags, n - first, false);
  if (first + threadIdx.x * 8 < n) {
    out[blockIdx.x * kThreads + threadIdx.x] = byte_of(flags);
  }
}
