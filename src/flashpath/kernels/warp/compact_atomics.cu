// Warp primitives, rung 7: compaction with an atomic for every element that is kept.
//
//   maths    out = the elements x[i] > threshold, in any order; count = how many they are
//   layout   in: (n), contiguous; out: room for n, of which the first `count` are written; count: 0 before the launch
//   cost     n comparisons; at least n sizeof(T) bytes read and count sizeof(T) written
//   improves reference: one pass, where torch makes a mask, counts it, and then gathers
//   idea     one counter for all tells each thread that keeps something the next free place.
//   watch    all those threads take turns at one address, and the order they come in is nobody's choice.
#include "../common/numbers.cuh"

template <class T>
__global__ void compact(long long n, const T* in, float threshold, T* out, unsigned long long* count) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n && widen(in[i]) > threshold) {
    out[atomicAdd(count, 1ull)] = in[i];
  }
}
