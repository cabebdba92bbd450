// Correct: cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

extern "C" __global__ void block_group(const int* x, int* y) {
  __shared__ int tile[64];
  const cg::thread_block block = cg::this_thread_block();
  const int rank = block.thread_rank();
  tile[rank] = x[rank];
  block.sync();
  y[rank] = tile[block.num_threads() - 1 - rank];
}

extern "C" __global__ void tiles(const int* x, int* sums) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int sum = cg::reduce(tile, x[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
}

// Tiles of eight threads pass values through shared memory.
extern "C" __global__ void tiles_in_shared(const int* x, int* y) {
  __shared__ int values[64];
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int i = block.thread_rank(), first = i - tile.thread_rank();
  values[i] = x[i];
  tile.sync();
  y[i] = values[first + 7 - tile.thread_rank()];
}

extern "C" __global__ void tile_scan(const int* x, int* y) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  y[threadIdx.x] = cg::inclusive_scan(warp, x[threadIdx.x], cg::plus<int>());
}

// The threads of a branch, whichever they are, take places with one atomic.
extern "C" __global__ void coalesced(const int* x, int* kept, int* count) {
  if (x[threadIdx.x] > 0) {
    const cg::coalesced_group active = cg::coalesced_threads();
    int first = 0;
    if (active.thread_rank() == 0) first = atomicAdd(count, static_cast<int>(active.num_threads()));
    first = active.shfl(first, 0);
    kept[first + active.thread_rank()] = x[threadIdx.x];
  }
}

extern "C" __global__ void labeled(const int* keys, int* counts) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto peers = cg::labeled_partition(warp, keys[threadIdx.x]);
  if (peers.thread_rank() == 0) atomicAdd(&counts[keys[threadIdx.x]], static_cast<int>(peers.num_threads()));
}

extern "C" __global__ void group_copy(const float* x, float* y, int tiles) {
  __shared__ __align__(16) float tile[64];
  const cg::thread_block block = cg::this_thread_block();
  float sum = 0;
  for (int i = 0; i < tiles; ++i) {
    cg::memcpy_async(block, tile, x + i * 64, sizeof(tile));
    cg::wait(block);
    sum += tile[63 - block.thread_rank()];
    block.sync();
  }
  y[block.thread_rank()] = sum;
}

// Whole blocks reduce in groups of warps.
extern "C" __global__ void block_reduce(const int* x, int* total) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const int sum = cg::reduce(warp, x[blockIdx.x * blockDim.x + threadIdx.x], cg::plus<int>());
  if (warp.thread_rank() == 0) atomicAdd(total, sum);
}
