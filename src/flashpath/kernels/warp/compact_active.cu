// Warp primitives, rung 8: compaction with an atomic for the lanes that happen to be together.
//
//   maths    out = the elements x[i] > threshold, in any order; count = how many they are
//   layout   in: (n), contiguous; out: room for n, of which the first `count` are written; count: 0 before the launch
//   cost     n comparisons; at least n sizeof(T) bytes read and count sizeof(T) written
//   improves compact_atomics: one atomic for lanes that keep something at the same time, where the compiler does not
//            put them together by itself
//   idea     inside the branch only lanes that keep something are left, and `__activemask` tells which of them run this
//            instruction together. They appoint the first to ask for room for all.
//   watch    it asks who is here, not who should be: a compiler may let the lanes of a warp come in two groups, and
//            then there are two atomics. This is right for any groups; what needs a certain set of lanes has to name
//            it, as the next rung does.
#include "../common/numbers.cuh"

template <class T>
__global__ void compact(long long n, const T* in, float threshold, T* out, unsigned long long* count) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const T mine = i < n ? in[i] : T{};
  if (i < n && widen(mine) > threshold) {
    const unsigned here = __activemask();
    const unsigned leader = __ffs(here) - 1;
    unsigned long long first = 0;
    if (lane == leader) {
      first = atomicAdd(count, static_cast<unsigned long long>(__popc(here)));
    }
    first = __shfl_sync(here, first, leader);
    out[first + __popc(here & ((1u << lane) - 1))] = mine;
  }
}
