// What there is to know about the GPU that is used. The figures differ from one to the next; what they obey does not.
#include <cstring>

#include "expect.h"

int attribute(cudaDeviceAttr which, int device) {
  int value = -1;
  MUST(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

__global__ void report_warp(int* size) { *size = warpSize; }

int main() {
  int count = 0, device = -1;
  MUST(cudaGetDeviceCount(&count));
  MUST(cudaGetDevice(&device));
  expect(count >= 1 && device == 0, "there is a GPU, and the first one is used");
  MUST(cudaSetDevice(count - 1));
  MUST(cudaGetDevice(&device));
  expect(device == count - 1, "the last one is used now");
  expect_error(cudaSetDevice(count), cudaErrorInvalidDevice, "there is none behind it");
  expect_error(cudaGetLastError(), cudaErrorInvalidDevice, "which is an error like others");
  MUST(cudaInitDevice(0, 0, 0));
  MUST(cudaSetDevice(0));

  cudaDeviceProp p;
  MUST(cudaGetDeviceProperties(&p, 0));
  std::fprintf(stderr, "%s, compute capability %d.%d, %d multiprocessors\n", p.name, p.major, p.minor,
               p.multiProcessorCount);
  expect(std::strlen(p.name) > 0 && p.multiProcessorCount > 0, "it has a name and multiprocessors");
  expect(p.warpSize == 32 && p.maxThreadsPerBlock == 1024, "warps of 32, blocks of up to 1024 threads");
  expect(p.maxThreadsDim[0] == 1024 && p.maxThreadsDim[1] == 1024 && p.maxThreadsDim[2] == 64,
         "the extents of a block");
  expect(p.maxGridSize[0] == 2147483647 && p.maxGridSize[1] == 65535 && p.maxGridSize[2] == 65535, "those of a grid");
  expect(p.sharedMemPerBlock == 48 << 10 && p.sharedMemPerBlockOptin >= p.sharedMemPerBlock,
         "shared memory of a block");
  expect(p.sharedMemPerMultiprocessor >= p.sharedMemPerBlockOptin + p.reservedSharedMemPerBlock, "of a multiprocessor");
  expect(p.totalConstMem == 64 << 10 && p.regsPerBlock == 65536, "constant memory and registers");
  expect(p.unifiedAddressing && p.managedMemory && p.canMapHostMemory && p.concurrentKernels && p.cooperativeLaunch,
         "what every GPU of today can do");
  expect(attribute(cudaDevAttrMaxThreadsPerBlock, 0) == p.maxThreadsPerBlock &&
             attribute(cudaDevAttrMultiProcessorCount, 0) == p.multiProcessorCount &&
             attribute(cudaDevAttrComputeCapabilityMajor, 0) == p.major &&
             attribute(cudaDevAttrComputeCapabilityMinor, 0) == p.minor &&
             attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == static_cast<int>(p.sharedMemPerBlockOptin) &&
             attribute(cudaDevAttrL2CacheSize, 0) == p.l2CacheSize && attribute(cudaDevAttrWarpSize, 0) == p.warpSize,
         "attributes say the same as properties");
  expect(attribute(cudaDevAttrClockRate, 0) > 0 && attribute(cudaDevAttrMemoryClockRate, 0) > 0, "clocks tick");
  std::size_t free_bytes, total;
  MUST(cudaMemGetInfo(&free_bytes, &total));
  expect(total == p.totalGlobalMem && free_bytes <= total, "memory");

  int driver, runtime;
  MUST(cudaDriverGetVersion(&driver));
  MUST(cudaRuntimeGetVersion(&runtime));
  expect(runtime == CUDART_VERSION && driver >= runtime, "versions");
  char bus[32];
  int found = -1;
  MUST(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  MUST(cudaDeviceGetByPCIBusId(&found, bus));
  expect(found == 0, "a GPU is found by where it is plugged in");
  cudaDeviceProp wanted = {};
  wanted.major = p.major;
  MUST(cudaChooseDevice(&found, &wanted));
  expect(found >= 0 && found < count, "one that is as wished");

  MUST(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  unsigned flags = 0;
  MUST(cudaGetDeviceFlags(&flags));
  expect((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync, "how the host waits");
  std::size_t limit = 0;
  MUST(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 8 << 20));
  MUST(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
  expect(limit >= 8 << 20, "room for what kernels print");
  MUST(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4096));
  MUST(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  expect(limit >= 4096, "and for what they allocate, with a least size");
  expect_error(cudaDeviceGetLimit(&limit, static_cast<cudaLimit>(77)), cudaErrorInvalidValue,
               "there is no limit 77");
  MUST(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
  cudaFuncCache cache;
  MUST(cudaDeviceGetCacheConfig(&cache));
  expect(cache == cudaFuncCachePreferL1, "what is preferred of cache and shared memory");
  expect(p.maxTexture1D == attribute(cudaDevAttrMaxTexture1DWidth, 0) && p.maxTexture2D[1] >= 32768,
         "how large textures may be");
  expect(attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, 0) >= 2, "single precision is faster than double");
  expect(attribute(cudaDevAttrMaxPersistingL2CacheSize, 0) == p.persistingL2CacheMaxSize &&
             p.persistingL2CacheMaxSize <= p.l2CacheSize,
         "what can stay in the L2 cache");

  int *on_device, size = 0;
  MUST(cudaMalloc(&on_device, sizeof(int)));
  report_warp<<<1, 1>>>(on_device);
  MUST(cudaDeviceSynchronize());
  MUST(cudaMemcpy(&size, on_device, sizeof size, cudaMemcpyDeviceToHost));
  expect(size == p.warpSize, "kernels know it too");
  MUST(cudaDeviceReset());
  MUST(cudaMalloc(&on_device, sizeof(int)));
  expect_error(cudaFree(on_device), cudaSuccess, "after a reset all begins anew");
  return wrong;
}
