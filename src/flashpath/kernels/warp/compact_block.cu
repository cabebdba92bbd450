// Warp primitives, rung 10: compaction with an atomic per block.
//
//   maths    out = the elements x[i] > threshold; those of a tile in their order, the tiles in any
//   layout   in: (n), contiguous; out: room for n, of which the first `count` are written; count: 0 before the launch
//   cost     n comparisons; at least n sizeof(T) bytes read and count sizeof(T) written
//   improves compact_ballot: a 128th of the atomics, and 16 loads in flight per thread
//   idea     the warps of a block add up what they keep in shared memory, and one thread asks for room for all 4096
//            elements of the tile. The fewer ask, the less the one counter is in the way.
#include "tile.cuh"

template <class T>
__global__ void __launch_bounds__(kThreads)
    compact(long long n, const T* __restrict__ in, float threshold, T* __restrict__ out, unsigned long long* count) {
  __shared__ unsigned long long first;
  const Kept<T> kept = keep(n, blockIdx.x * (long long)kTile, in, threshold);
  if (threadIdx.x == 0) {
    first = atomicAdd(count, static_cast<unsigned long long>(kept.of_tile));
  }
  __syncthreads();
  write(kept, out + first);
}
