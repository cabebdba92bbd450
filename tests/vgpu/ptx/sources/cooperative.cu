#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

extern "C" __global__ void groups(int* data) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  int value = tile.shfl_down(data[block.thread_rank()], 2);
  value = cg::reduce(tile, value, cg::plus<int>());
  const auto active = cg::coalesced_threads();
  if (active.thread_rank() == 0) data[block.group_index().x] = value;
  block.sync();
}
