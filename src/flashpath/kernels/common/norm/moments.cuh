// Count, mean and sum of squared distances from the mean (M2) of some numbers: what Welford carries along, and Chan,
// Golub and LeVeque merge. No square of a large number is ever subtracted from another, so nothing cancels where the
// mean dwarfs the standard deviation.
#pragma once

template <class C>
struct Moments {
  C count = 0;
  C mean = 0;
  C m2 = 0;

  __device__ void append(C x) {
    count += 1;
    const C distance = x - mean;
    mean += distance / count;
    m2 += distance * (x - mean);
  }

  __device__ void merge(const Moments& other) {
    if (other.count > 0) {  // of two empty ones the share would be 0 / 0
      const C distance = other.mean - mean;
      const C share = other.count / (count + other.count);
      mean += distance * share;
      m2 += other.m2 + count * share * distance * distance;  // a huge mean's square is infinite, even of none
      count += other.count;
    }
  }
};

// The moments of all threads of the block together; every thread gets them. All threads must come here, and once only:
// the shared memory is not free again before the next barrier.
template <int kThreads, class C>
__device__ Moments<C> merge_over_block(Moments<C> own) {
  constexpr int kWarps = kThreads / 32;
  __shared__ Moments<C> of_warp[kWarps];
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    own.merge({__shfl_down_sync(~0u, own.count, distance), __shfl_down_sync(~0u, own.mean, distance),
               __shfl_down_sync(~0u, own.m2, distance)});
  }
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = own;
  }
  __syncthreads();
  Moments<C> all = of_warp[0];
  for (int w = 1; w < kWarps; ++w) {
    all.merge(of_warp[w]);
  }
  return all;
}
