#include "probe.h"
__global__ void plain(float* x) { x[threadIdx.x] += 1; }
__global__ void __launch_bounds__(128, 4) bounded(float* x) { __shared__ float s[100]; s[threadIdx.x % 100] = x[0]; __syncthreads(); x[threadIdx.x] = s[5]; }
__global__ void dynamic(float* x) { extern __shared__ float s[]; s[threadIdx.x] = x[0]; __syncthreads(); x[threadIdx.x] = s[5]; }
void show(const char* n, const void* f) {
  cudaFuncAttributes a; P(cudaFuncGetAttributes(&a, f));
  std::printf("%s: shared %zu const %zu local %zu maxthreads %d regs %d ptx %d bin %d ca %d maxdyn %d carve %d cluster %d %d %d %d\n", n, a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, a.numRegs, a.ptxVersion, a.binaryVersion, a.cacheModeCA, a.maxDynamicSharedSizeBytes, a.preferredShmemCarveout, a.clusterDimMustBeSet, a.requiredClusterWidth, a.clusterSchedulingPolicyPreference, a.nonPortableClusterSizeAllowed);
}
int main() {
  for (int k = 0; k <= 150; ++k) { int v = -12345; cudaError_t e = cudaDeviceGetAttribute(&v, static_cast<cudaDeviceAttr>(k), 0); cudaGetLastError(); std::printf("attribute %d %s %d\n", k, cudaGetErrorName(e), v); }
  cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); size_t f, t; cudaMemGetInfo(&f, &t);
  std::printf("total %zu of prop %zu, persisting %d window %d texalign %zu pitch %zu surf %zu shared/block %zu optin %zu /sm %zu reserved %zu l2 %d bus %d engines %d\n", t, p.totalGlobalMem, p.persistingL2CacheMaxSize, p.accessPolicyMaxWindowSize, p.textureAlignment, p.memPitch, p.surfaceAlignment, p.sharedMemPerBlock, p.sharedMemPerBlockOptin, p.sharedMemPerMultiprocessor, p.reservedSharedMemPerBlock, p.l2CacheSize, p.memoryBusWidth, p.asyncEngineCount);
  for (int k = 0; k < 10; ++k) { size_t v = 0; cudaError_t e = cudaDeviceGetLimit(&v, static_cast<cudaLimit>(k)); cudaGetLastError(); std::printf("limit %d %s %zu\n", k, cudaGetErrorName(e), v); }
  for (int k = 0; k < 10; ++k) { cudaError_t e = cudaDeviceSetLimit(static_cast<cudaLimit>(k), 4096); size_t v = 0; cudaDeviceGetLimit(&v, static_cast<cudaLimit>(k)); cudaGetLastError(); std::printf("set limit %d 4096: %s, now %zu\n", k, cudaGetErrorName(e), v); }
  int least, greatest; cudaDeviceGetStreamPriorityRange(&least, &greatest); std::printf("priorities %d %d\n", least, greatest);
  unsigned flags; P(cudaGetDeviceFlags(&flags)); std::printf("flags %u\n", flags);
  P(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync)); P(cudaGetDeviceFlags(&flags)); std::printf("flags %u\n", flags);
  P(cudaSetDeviceFlags(0x4000)); cudaFuncCache c; P(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1)); P(cudaDeviceGetCacheConfig(&c)); std::printf("cache %d\n", c);
  show("plain", (void*)plain); show("bounded", (void*)bounded); show("dynamic", (void*)dynamic);
  P(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 50)); P(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, 101)); P(cudaFuncSetAttribute(dynamic, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
  P(cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, -1)); P(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p.sharedMemPerBlockOptin)); P(cudaFuncSetAttribute(bounded, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)p.sharedMemPerBlockOptin - 400)); P(cudaFuncSetAttribute(dynamic, (cudaFuncAttribute)77, 1)); P(cudaFuncSetAttribute((void*)nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
  show("dynamic", (void*)dynamic); show("bounded", (void*)bounded);
  int b; for (int threads : {0, -1, 1, 33, 1024, 1025, 2048}) { b = -7; cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, plain, threads, 0); cudaGetLastError(); std::printf("occupancy plain %d: %s %d\n", threads, cudaGetErrorName(e), b); }
  for (size_t s : {0ul, 49152ul, 49153ul, 100000ul, 227ul << 10, 228ul << 10}) { b = -7; cudaError_t e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, dynamic, 128, s); cudaGetLastError(); std::printf("occupancy dynamic %zu: %s %d\n", s, cudaGetErrorName(e), b); }
  b = -7; P(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&b, bounded, 256, 0)); std::printf("bounded 256: %d\n", b);
  for (int n : {0, 1, 2, 3, 5, 8, 16, 32, 33}) { size_t s = 7; cudaError_t e = cudaOccupancyAvailableDynamicSMemPerBlock(&s, dynamic, n, 128); cudaGetLastError(); std::printf("available for %d: %s %zu\n", n, cudaGetErrorName(e), s); }
  for (int n : {1, 2, 16}) { size_t s = 7; cudaError_t e = cudaOccupancyAvailableDynamicSMemPerBlock(&s, bounded, n, 128); cudaGetLastError(); std::printf("available bounded for %d: %s %zu\n", n, cudaGetErrorName(e), s); }
  cudaMemPool_t pool; P(cudaDeviceGetDefaultMemPool(&pool, 0)); for (int k = 1; k <= 8; ++k) { uint64_t v = 0; cudaError_t e = cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)k, &v); cudaGetLastError(); std::printf("pool attribute %d %s %llu\n", k, cudaGetErrorName(e), (unsigned long long)v); }
}
