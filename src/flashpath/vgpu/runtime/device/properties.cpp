#include "device/properties.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "device/occupancy.h"

namespace flashpath::runtime {
namespace {

constexpr int kCopyEngines = 3;
constexpr std::size_t kConstantBytes = 64 << 10;
constexpr int kMostTexelsOfLinear = 1 << 28;

// Of textures and surfaces there is nothing but their limits, which programs print. They are those that an H200's
// driver tells; those of a T4 (compute capability 7.5) that are published are the same.
void set_texture_limits(cudaDeviceProp& p) {
  const auto set = [](auto& to, auto... extents) {
    const int given[] = {extents...};
    static_assert(sizeof given == sizeof to);
    std::memcpy(&to, given, sizeof to);
  };
  set(p.maxTexture1D, 131072);
  set(p.maxTexture1DMipmap, 32768);
  set(p.maxTexture2D, 131072, 65536);
  set(p.maxTexture2DMipmap, 32768, 32768);
  set(p.maxTexture2DLinear, 131072, 65000, 2097120);
  set(p.maxTexture2DGather, 32768, 32768);
  set(p.maxTexture3D, 16384, 16384, 16384);
  set(p.maxTexture3DAlt, 8192, 8192, 32768);
  set(p.maxTextureCubemap, 32768);
  set(p.maxTexture1DLayered, 32768, 2048);
  set(p.maxTexture2DLayered, 32768, 32768, 2048);
  set(p.maxTextureCubemapLayered, 32768, 2046);
  set(p.maxSurface1D, 32768);
  set(p.maxSurface2D, 131072, 65536);
  set(p.maxSurface3D, 16384, 16384, 16384);
  set(p.maxSurface1DLayered, 32768, 2048);
  set(p.maxSurface2DLayered, 32768, 32768, 2048);
  set(p.maxSurfaceCubemap, 32768);
  set(p.maxSurfaceCubemapLayered, 32768, 2046);
}

// How many times faster the ordinary cores are with half the width.
int single_to_double(const Gpu& gpu) {
  const auto rate = [&](const char* type) {
    const auto found = gpu.peak.find(type);
    return found == gpu.peak.end() ? 0.0 : found->second;
  };
  return rate("fp64") == 0 ? 0 : static_cast<int>(std::lround(rate("fp32") / rate("fp64")));
}

// Four from Hopper on, one before (CUDA C++ Programming Guide, "Memory Synchronization Domains").
int synchronization_domains(const Gpu& gpu) { return gpu.major >= 9 ? 4 : 1; }

}  // namespace

// What is not named here is 0: of one machine (NUMA nodes, ids of the PCI device), or not there.
cudaDeviceProp properties_of(const Gpu& gpu, int device) {
  cudaDeviceProp p;
  std::memset(&p, 0, sizeof p);
  std::strncpy(p.name, gpu.device_name.c_str(), sizeof p.name - 1);
  p.uuid.bytes[15] = static_cast<char>(device);
  p.totalGlobalMem = gpu.memory_bytes;
  p.sharedMemPerBlock = kSharedWithoutOptIn;
  p.regsPerBlock = gpu.registers_per_sm;
  p.warpSize = 32;
  p.memPitch = 0x7fffffff;
  p.maxThreadsPerBlock = gpu.max_threads_per_block;
  std::copy(gpu.max_block.begin(), gpu.max_block.end(), p.maxThreadsDim);
  std::copy(gpu.max_grid.begin(), gpu.max_grid.end(), p.maxGridSize);
  p.totalConstMem = kConstantBytes;
  p.major = gpu.major;
  p.minor = gpu.minor;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = gpu.multiprocessors;
  p.canMapHostMemory = 1;
  set_texture_limits(p);
  p.surfaceAlignment = 512;
  p.concurrentKernels = 1;
  p.ECCEnabled = gpu.ecc;
  p.pciBusID = device + 1;
  p.asyncEngineCount = kCopyEngines;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = gpu.memory_bus_bits;
  p.l2CacheSize = static_cast<int>(gpu.l2_bytes);
  p.persistingL2CacheMaxSize = static_cast<int>(gpu.l2_bytes / 16) * gpu.persisting_l2_sixteenths;
  p.accessPolicyMaxWindowSize = static_cast<int>(gpu.access_policy_window);
  p.maxThreadsPerMultiProcessor = gpu.max_warps_per_sm * 32;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(gpu.max_shared_per_sm);
  p.regsPerMultiprocessor = gpu.registers_per_sm;
  p.managedMemory = 1;
  p.multiGpuBoardGroupID = device;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(gpu.max_shared_per_block);
  p.maxBlocksPerMultiProcessor = gpu.max_blocks_per_sm;
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(gpu.reserved_shared_per_block);
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  p.deviceNumaId = -1;
  return p;
}

std::optional<int> attribute_of(const Gpu& gpu, int device, cudaDeviceAttr attribute) {
  const cudaDeviceProp p = properties_of(gpu, device);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX: return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY: return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ: return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX: return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY: return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ: return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrReservedSharedMemoryPerBlock: return static_cast<int>(p.reservedSharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory: return static_cast<int>(p.totalConstMem);
    case cudaDevAttrWarpSize: return p.warpSize;
    case cudaDevAttrMaxPitch: return static_cast<int>(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock: return p.regsPerBlock;
    case cudaDevAttrMaxRegistersPerMultiprocessor: return p.regsPerMultiprocessor;
    case cudaDevAttrClockRate: return gpu.clock_mhz * 1000;
    case cudaDevAttrMemoryClockRate: return gpu.memory_clock_khz;
    case cudaDevAttrTextureAlignment: return static_cast<int>(p.textureAlignment);
    case cudaDevAttrTexturePitchAlignment: return static_cast<int>(p.texturePitchAlignment);
    case cudaDevAttrSurfaceAlignment: return static_cast<int>(p.surfaceAlignment);
    case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
    case cudaDevAttrCanMapHostMemory: return p.canMapHostMemory;
    case cudaDevAttrComputeMode: return cudaComputeModeDefault;
    case cudaDevAttrConcurrentKernels: return p.concurrentKernels;
    case cudaDevAttrEccEnabled: return p.ECCEnabled;
    case cudaDevAttrPciBusId: return p.pciBusID;
    case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize: return p.l2CacheSize;
    case cudaDevAttrMaxPersistingL2CacheSize: return p.persistingL2CacheMaxSize;
    case cudaDevAttrMaxAccessPolicyWindowSize: return p.accessPolicyMaxWindowSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount: return p.asyncEngineCount;
    case cudaDevAttrGpuOverlap: return p.asyncEngineCount > 0;
    case cudaDevAttrUnifiedAddressing: return p.unifiedAddressing;
    case cudaDevAttrComputeCapabilityMajor: return p.major;
    case cudaDevAttrComputeCapabilityMinor: return p.minor;
    case cudaDevAttrStreamPrioritiesSupported: return p.streamPrioritiesSupported;
    case cudaDevAttrGlobalL1CacheSupported: return p.globalL1CacheSupported;
    case cudaDevAttrLocalL1CacheSupported: return p.localL1CacheSupported;
    case cudaDevAttrManagedMemory: return p.managedMemory;
    case cudaDevAttrMultiGpuBoardGroupID: return p.multiGpuBoardGroupID;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return single_to_double(gpu);
    case cudaDevAttrConcurrentManagedAccess: return p.concurrentManagedAccess;
    case cudaDevAttrComputePreemptionSupported: return p.computePreemptionSupported;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return p.canUseHostPointerForRegisteredMem;
    case cudaDevAttrCooperativeLaunch: return p.cooperativeLaunch;
    case cudaDevAttrHostRegisterSupported: return p.hostRegisterSupported;
    case cudaDevAttrMemoryPoolsSupported: return p.memoryPoolsSupported;
    case cudaDevAttrMemSyncDomainCount: return synchronization_domains(gpu);
    case cudaDevAttrNumaId: return p.deviceNumaId;
    case cudaDevAttrMaxTexture1DWidth: return p.maxTexture1D;
    case cudaDevAttrMaxTexture1DMipmappedWidth: return p.maxTexture1DMipmap;
    case cudaDevAttrMaxTexture1DLinearWidth: return kMostTexelsOfLinear;
    case cudaDevAttrMaxTexture1DLayeredWidth: return p.maxTexture1DLayered[0];
    case cudaDevAttrMaxTexture1DLayeredLayers: return p.maxTexture1DLayered[1];
    case cudaDevAttrMaxTexture2DWidth: return p.maxTexture2D[0];
    case cudaDevAttrMaxTexture2DHeight: return p.maxTexture2D[1];
    case cudaDevAttrMaxTexture2DMipmappedWidth: return p.maxTexture2DMipmap[0];
    case cudaDevAttrMaxTexture2DMipmappedHeight: return p.maxTexture2DMipmap[1];
    case cudaDevAttrMaxTexture2DLinearWidth: return p.maxTexture2DLinear[0];
    case cudaDevAttrMaxTexture2DLinearHeight: return p.maxTexture2DLinear[1];
    case cudaDevAttrMaxTexture2DLinearPitch: return p.maxTexture2DLinear[2];
    case cudaDevAttrMaxTexture2DGatherWidth: return p.maxTexture2DGather[0];
    case cudaDevAttrMaxTexture2DGatherHeight: return p.maxTexture2DGather[1];
    case cudaDevAttrMaxTexture2DLayeredWidth: return p.maxTexture2DLayered[0];
    case cudaDevAttrMaxTexture2DLayeredHeight: return p.maxTexture2DLayered[1];
    case cudaDevAttrMaxTexture2DLayeredLayers: return p.maxTexture2DLayered[2];
    case cudaDevAttrMaxTexture3DWidth: return p.maxTexture3D[0];
    case cudaDevAttrMaxTexture3DHeight: return p.maxTexture3D[1];
    case cudaDevAttrMaxTexture3DDepth: return p.maxTexture3D[2];
    case cudaDevAttrMaxTexture3DWidthAlt: return p.maxTexture3DAlt[0];
    case cudaDevAttrMaxTexture3DHeightAlt: return p.maxTexture3DAlt[1];
    case cudaDevAttrMaxTexture3DDepthAlt: return p.maxTexture3DAlt[2];
    case cudaDevAttrMaxTextureCubemapWidth: return p.maxTextureCubemap;
    case cudaDevAttrMaxTextureCubemapLayeredWidth: return p.maxTextureCubemapLayered[0];
    case cudaDevAttrMaxTextureCubemapLayeredLayers: return p.maxTextureCubemapLayered[1];
    case cudaDevAttrMaxSurface1DWidth: return p.maxSurface1D;
    case cudaDevAttrMaxSurface1DLayeredWidth: return p.maxSurface1DLayered[0];
    case cudaDevAttrMaxSurface1DLayeredLayers: return p.maxSurface1DLayered[1];
    case cudaDevAttrMaxSurface2DWidth: return p.maxSurface2D[0];
    case cudaDevAttrMaxSurface2DHeight: return p.maxSurface2D[1];
    case cudaDevAttrMaxSurface2DLayeredWidth: return p.maxSurface2DLayered[0];
    case cudaDevAttrMaxSurface2DLayeredHeight: return p.maxSurface2DLayered[1];
    case cudaDevAttrMaxSurface2DLayeredLayers: return p.maxSurface2DLayered[2];
    case cudaDevAttrMaxSurface3DWidth: return p.maxSurface3D[0];
    case cudaDevAttrMaxSurface3DHeight: return p.maxSurface3D[1];
    case cudaDevAttrMaxSurface3DDepth: return p.maxSurface3D[2];
    case cudaDevAttrMaxSurfaceCubemapWidth: return p.maxSurfaceCubemap;
    case cudaDevAttrMaxSurfaceCubemapLayeredWidth: return p.maxSurfaceCubemapLayered[0];
    case cudaDevAttrMaxSurfaceCubemapLayeredLayers: return p.maxSurfaceCubemapLayered[1];
    case cudaDevAttrClusterLaunch: return p.major >= 9;
    // All others are of one machine, or of what the virtual GPU has not: arrays, other processes' handles …
    default: return attribute > 0 && attribute < cudaDevAttrMax ? std::optional(0) : std::nullopt;
  }
}

}  // namespace flashpath::runtime
