// Cooperative groups: tiles of a warp, blocks, and a grid whose blocks wait for each other.
#include <cooperative_groups.h>

#include "expect.h"

namespace cg = cooperative_groups;

// The sum of all numbers, in one launch: each block adds up its part, then, once all have, the first adds the parts.
__global__ void sum_all(const int* values, int count, int* parts, int* sum) {
  const cg::grid_group grid = cg::this_grid();
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<32>(block);
  __shared__ int of_tiles[8];
  int own = 0;
  for (unsigned long long k = grid.thread_rank(); k < count; k += grid.num_threads()) own += values[k];
  for (unsigned half = tile.size() / 2; half > 0; half /= 2) own += tile.shfl_down(own, half);
  if (tile.thread_rank() == 0) of_tiles[tile.meta_group_rank()] = own;
  block.sync();
  if (block.thread_rank() == 0) {
    int of_block = 0;
    for (unsigned k = 0; k < tile.meta_group_size(); ++k) of_block += of_tiles[k];
    parts[blockIdx.x] = of_block;
  }
  grid.sync();
  if (grid.thread_rank() == 0) {
    *sum = 0;
    for (unsigned k = 0; k < gridDim.x; ++k) *sum += parts[k];
  }
}

// Each step needs all of the step before: neighbours are added, again and again.
__global__ void spread(float* from, float* to, int count, int steps) {
  const cg::grid_group grid = cg::this_grid();
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 0; step < steps; ++step) {
    to[k] = from[k] + from[(k + 1) % count];
    grid.sync();
    float* const old = from;
    from = to;
    to = old;
  }
}

int main() {
  constexpr int kCount = 10000, kBlocks = 6;
  int *values, *parts, *sum;
  MUST(cudaMallocManaged(&values, kCount * sizeof(int)));
  MUST(cudaMallocManaged(&parts, kBlocks * sizeof(int)));
  MUST(cudaMallocManaged(&sum, sizeof(int)));
  for (int k = 0; k < kCount; ++k) values[k] = k % 7 - 2;
  int expected = 0;
  for (int k = 0; k < kCount; ++k) expected += values[k];
  int count = kCount;
  void* arguments[] = {&values, &count, &parts, &sum};
  MUST(cudaLaunchCooperativeKernel(sum_all, dim3(kBlocks), dim3(256), arguments, 0, nullptr));
  MUST(cudaDeviceSynchronize());
  std::printf("the sum is %d\n", *sum);
  expect(*sum == expected, "as on the host");

  float *from, *to;
  MUST(cudaMallocManaged(&from, 256 * sizeof(float)));
  MUST(cudaMallocManaged(&to, 256 * sizeof(float)));
  for (int k = 0; k < 256; ++k) from[k] = k == 10 ? 1.0f : 0.0f;
  cudaLaunchAttribute together;
  together.id = cudaLaunchAttributeCooperative;
  together.val.cooperative = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(4);
  config.blockDim = dim3(64);
  config.attrs = &together;
  config.numAttrs = 1;
  MUST(cudaLaunchKernelEx(&config, spread, from, to, 256, 6));
  MUST(cudaDeviceSynchronize());
  std::printf("six steps: %g %g %g %g %g %g %g\n", from[4], from[5], from[6], from[7], from[8], from[9], from[10]);

  void* none[] = {&from, &to, &count, &count};
  expect_error(cudaLaunchCooperativeKernel(spread, dim3(1000000), dim3(64), none, 0, nullptr),
               cudaErrorCooperativeLaunchTooLarge, "a million blocks cannot wait for each other");
  return wrong;
}
