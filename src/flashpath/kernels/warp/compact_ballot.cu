// Warp primitives, rung 9: compaction with an atomic per warp.
//
//   maths    out = the elements x[i] > threshold; those of 32 neighbours in their order, the groups in any
//   layout   in: (n), contiguous; out: room for n, of which the first `count` are written; count: 0 before the launch
//   cost     n comparisons; at least n sizeof(T) bytes read and count sizeof(T) written
//   improves compact_atomics: a 32nd of the atomics, and stores of a warp side by side
//   idea     a ballot tells every lane which others keep their element: how many they are is the number of bits set,
//            how many come before mine the number of bits below mine. One lane asks for room for all, and a shuffle
//            tells them where it is.
#include "../common/numbers.cuh"

template <class T>
__global__ void compact(long long n, const T* in, float threshold, T* out, unsigned long long* count) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const T mine = i < n ? in[i] : T{};
  const bool is_kept = i < n && widen(mine) > threshold;
  const unsigned kept = __ballot_sync(0xffffffff, is_kept);

  unsigned long long first = 0;
  if (lane == 0 && kept != 0) {
    first = atomicAdd(count, static_cast<unsigned long long>(__popc(kept)));
  }
  first = __shfl_sync(0xffffffff, first, 0);
  if (is_kept) {
    out[first + __popc(kept & ((1u << lane) - 1))] = mine;
  }
}
