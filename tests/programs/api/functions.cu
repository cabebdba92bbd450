// What a kernel takes of a multiprocessor, how many blocks fit on it, and how to ask for more shared memory.
#include <algorithm>
#include <cstdint>

#include "expect.h"

__global__ void __launch_bounds__(128) small(float* values) {
  __shared__ float turned[128];
  turned[127 - threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = turned[threadIdx.x];
}

__global__ void fill_shared(unsigned* sum, unsigned count) {
  extern __shared__ unsigned numbers[];
  for (unsigned k = threadIdx.x; k < count; k += blockDim.x) numbers[k] = k;
  __syncthreads();
  unsigned part = 0;
  for (unsigned k = threadIdx.x; k < count; k += blockDim.x) part += numbers[count - 1 - k];
  atomicAdd(sum, part);
}

int main() {
  cudaDeviceProp gpu;
  MUST(cudaGetDeviceProperties(&gpu, 0));
  cudaFuncAttributes takes;
  MUST(cudaFuncGetAttributes(&takes, small));
  expect(takes.sharedSizeBytes == 512, "its shared memory");
  expect(takes.maxThreadsPerBlock == 128, "its largest block");
  expect(takes.numRegs > 0 && takes.numRegs <= 255 && takes.localSizeBytes == 0, "its registers");
  expect(takes.binaryVersion == gpu.major * 10 + gpu.minor || takes.ptxVersion > 0, "what it was compiled for");
  expect(takes.maxDynamicSharedSizeBytes == (48 << 10) - 512, "what a launch can add without asking");

  int blocks = 0, with_flags = 0;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 128, 0));
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&with_flags, small, 128, 0, cudaOccupancyDefault));
  const int at_most = std::min(gpu.maxBlocksPerMultiProcessor, gpu.maxThreadsPerMultiProcessor / 128);
  expect(blocks == at_most && with_flags == at_most, "as many blocks as there is room for threads");
  int least_grid = 0, best_block = 0;
  MUST(cudaOccupancyMaxPotentialBlockSize(&least_grid, &best_block, fill_shared));
  expect(best_block >= 32 && best_block <= 1024 && least_grid >= gpu.multiProcessorCount, "a good size for a block");
  MUST(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&least_grid, &best_block, fill_shared,
                                                      [](int threads) { return threads * sizeof(float); }));
  expect(best_block % 32 == 0 && least_grid >= gpu.multiProcessorCount, "also where blocks need memory by the thread");

  unsigned* sum;
  MUST(cudaMallocManaged(&sum, sizeof(unsigned)));
  const std::size_t most = gpu.sharedMemPerBlockOptin;
  const int all = static_cast<int>(most);
  const unsigned count = static_cast<unsigned>(most / sizeof(unsigned));
  if (most > 48 << 10) fill_shared<<<1, 256, most>>>(sum, count);
  expect_error(most > 48 << 10 ? cudaGetLastError() : cudaErrorInvalidValue, cudaErrorInvalidValue,
               "more than 48 KiB must be asked for");
  small<<<1, 128, SIZE_MAX>>>(nullptr);
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "a size beyond all memory is none, either");
  expect_error(cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, all + 1),
               cudaErrorInvalidValue, "and more than there is cannot be");
  expect_error(cudaGetLastError(), cudaErrorInvalidValue, "which is no success");
  MUST(cudaFuncSetAttribute(fill_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, all));
  MUST(cudaFuncSetAttribute(fill_shared, cudaFuncAttributePreferredSharedMemoryCarveout,
                            cudaSharedmemCarveoutMaxShared));
  MUST(cudaFuncGetAttributes(&takes, fill_shared));
  expect(takes.maxDynamicSharedSizeBytes == all && takes.preferredShmemCarveout == 100, "it was asked for");
  MUST(cudaFuncSetCacheConfig(fill_shared, cudaFuncCachePreferShared));
  *sum = 0;
  fill_shared<<<1, 256, most>>>(sum, count);
  MUST(cudaGetLastError());
  MUST(cudaDeviceSynchronize());
  expect(*sum == static_cast<unsigned>(std::uint64_t(count) * (count - 1) / 2), "all of it was used");
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill_shared, 256, most));
  expect(blocks == 1, "one such block fits");
  std::size_t room = 0;
  MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&room, fill_shared, 1, 256));
  expect(room == most, "a block that is alone can have all");

  // What of the memory is L1 cache is not shared memory; a block that needs more has it all the same.
  MUST(cudaFuncSetAttribute(small, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxL1));
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 32, 0));
  int with_all = 0;
  MUST(cudaFuncSetAttribute(small, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&with_all, small, 32, 0));
  expect(blocks >= 1 && blocks < with_all, "fewer blocks fit where the cache is preferred");
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 128, 48 << 10));
  expect(blocks == 0, "none with more than a launch could have");
  expect_error(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 0, 0), cudaErrorInvalidValue,
               "and of blocks without threads there is no number");
  MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&room, small, 2, 128));
  expect(room == (48 << 10) - 512, "two blocks have what a launch may add");
  expect_error(cudaOccupancyAvailableDynamicSMemPerBlock(&room, small, 1000, 128), cudaErrorInvalidValue,
               "a thousand have no place");
  expect_error(cudaFuncSetAttribute(small, static_cast<cudaFuncAttribute>(77), 1), cudaErrorInvalidValue,
               "kernels have no attribute 77");
  MUST(cudaFree(sum));
  return wrong;
}
