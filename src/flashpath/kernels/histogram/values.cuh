// All values of a tensor, in 16-byte packs, wherever it starts: for the rungs from vectorized on.
#pragma once
#include "../common/pack.cuh"

constexpr int kPacksInFlight = 2;

// Calls count() for the values that fall to this thread, of a grid of blocks of kThreads.
template <int kThreads, class T, class Count>
__device__ void for_each_value(long long n, const T* __restrict__ x, Count count) {
  constexpr int kWidth = 16 / sizeof(T);
  const long long to_boundary = (16 - reinterpret_cast<unsigned long long>(x) % 16) % 16 / sizeof(T);
  const long long head = min(to_boundary, n);
  const long long packs = (n - head) / kWidth;
  const Pack<T>* body = reinterpret_cast<const Pack<T>*>(x + head);

  // What lies before the first 16-byte boundary and after the last one: fewer values than the first block has threads.
  if (blockIdx.x == 0) {
    const long long after = head + packs * kWidth + threadIdx.x;
    if (threadIdx.x < head) {
      count(x[threadIdx.x]);
    }
    if (after < n) {
      count(x[after]);
    }
  }

  // A block's packs of one round are contiguous, and all are asked for before the first is counted.
  constexpr int kRound = kThreads * kPacksInFlight;
  for (long long start = blockIdx.x * (long long)kRound; start < packs; start += gridDim.x * (long long)kRound) {
    const Pack<T>* from = body + start + threadIdx.x;
    const int left = min(packs - start, (long long)kRound);
    Pack<T> held[kPacksInFlight];
#pragma unroll
    for (int k = 0; k < kPacksInFlight; ++k) {
      if (threadIdx.x + k * kThreads < left) {
        held[k] = read_only(from + k * kThreads);
      }
    }
#pragma unroll
    for (int k = 0; k < kPacksInFlight; ++k) {
      if (threadIdx.x + k * kThreads < left) {
#pragma unroll
        for (int l = 0; l < kWidth; ++l) {
          count(held[k].value[l]);
        }
      }
    }
  }
}
