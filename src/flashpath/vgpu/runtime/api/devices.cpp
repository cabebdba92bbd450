// Devices: which there are, what they can do, and waiting for them.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>

#include "api/call.h"

using namespace flashpath::runtime;

namespace {

constexpr int kVersion = CUDART_VERSION;
constexpr int kCopyEngines = 3;
constexpr std::size_t kSharedWithoutOptIn = 48 << 10;
constexpr std::size_t kConstantBytes = 64 << 10;

// The width of the memory bus in bits, of the families that have profiles; 0: not known.
int bus_width(const Gpu& gpu) {
  struct Width {
    const char* name;
    int bits;
  };
  constexpr Width kWidths[] = {{"T4", 256},       {"A100", 5120}, {"RTX 3090", 384}, {"RTX 4090", 384},
                               {"L4", 192},       {"H100", 5120}, {"H200", 6144},    {"B200", 8192}};
  for (const Width& each : kWidths) {
    if (gpu.name == each.name) return each.bits;
  }
  return 0;
}

// In kHz, such that what people compute from it and the bus, two transfers a cycle, is the bandwidth.
int memory_clock(const Gpu& gpu) {
  const double bytes_per_cycle = 2.0 * bus_width(gpu) / 8;
  return bytes_per_cycle == 0 ? 0 : static_cast<int>(gpu.memory_bytes_per_s / bytes_per_cycle / 1e3);
}

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
  p.maxThreadsDim[0] = p.maxThreadsDim[1] = gpu.max_threads_per_block;
  p.maxThreadsDim[2] = 64;
  p.maxGridSize[0] = 0x7fffffff;
  p.maxGridSize[1] = p.maxGridSize[2] = 65535;
  p.totalConstMem = kConstantBytes;
  p.major = gpu.major;
  p.minor = gpu.minor;
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.multiProcessorCount = gpu.multiprocessors;
  p.canMapHostMemory = 1;
  p.surfaceAlignment = 512;
  p.concurrentKernels = 1;
  p.pciBusID = device + 1;
  p.asyncEngineCount = kCopyEngines;
  p.unifiedAddressing = 1;
  p.memoryBusWidth = bus_width(gpu);
  p.l2CacheSize = static_cast<int>(gpu.l2_bytes);
  p.maxThreadsPerMultiProcessor = gpu.max_warps_per_sm * 32;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = p.localL1CacheSupported = 1;
  p.sharedMemPerMultiprocessor = static_cast<std::size_t>(gpu.max_shared_per_sm);
  p.regsPerMultiprocessor = gpu.registers_per_sm;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.sharedMemPerBlockOptin = static_cast<std::size_t>(gpu.max_shared_per_block);
  p.maxBlocksPerMultiProcessor = gpu.max_blocks_per_sm;
  p.reservedSharedMemPerBlock = static_cast<std::size_t>(gpu.reserved_shared_per_block);
  p.hostRegisterSupported = 1;
  p.memoryPoolsSupported = 1;
  return p;
}

// nullopt: it is not known here.
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
    case cudaDevAttrMemoryClockRate: return memory_clock(gpu);
    case cudaDevAttrTextureAlignment: return static_cast<int>(p.textureAlignment);
    case cudaDevAttrMultiProcessorCount: return p.multiProcessorCount;
    case cudaDevAttrKernelExecTimeout: return 0;
    case cudaDevAttrIntegrated: return 0;
    case cudaDevAttrCanMapHostMemory: return 1;
    case cudaDevAttrComputeMode: return cudaComputeModeDefault;
    case cudaDevAttrConcurrentKernels: return 1;
    case cudaDevAttrEccEnabled: return 0;
    case cudaDevAttrPciBusId: return p.pciBusID;
    case cudaDevAttrPciDeviceId: return p.pciDeviceID;
    case cudaDevAttrGlobalMemoryBusWidth: return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize: return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount: return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing: return 1;
    case cudaDevAttrComputeCapabilityMajor: return p.major;
    case cudaDevAttrComputeCapabilityMinor: return p.minor;
    case cudaDevAttrStreamPrioritiesSupported: return 1;
    case cudaDevAttrGlobalL1CacheSupported: return 1;
    case cudaDevAttrLocalL1CacheSupported: return 1;
    case cudaDevAttrManagedMemory: return 1;
    case cudaDevAttrConcurrentManagedAccess: return 1;
    case cudaDevAttrPageableMemoryAccess: return 0;
    case cudaDevAttrHostNativeAtomicSupported: return 0;
    case cudaDevAttrComputePreemptionSupported: return 1;
    case cudaDevAttrCanUseHostPointerForRegisteredMem: return 1;
    case cudaDevAttrCooperativeLaunch: return 1;
    case cudaDevAttrHostRegisterSupported: return 1;
    case cudaDevAttrMemoryPoolsSupported: return 1;
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrMultiGpuBoardGroupID: return device;
    case cudaDevAttrTexturePitchAlignment: return static_cast<int>(p.texturePitchAlignment);
    case cudaDevAttrSurfaceAlignment: return static_cast<int>(p.surfaceAlignment);
    case cudaDevAttrNumaId: return -1;
    // What the virtual GPU has not.
    case cudaDevAttrTccDriver:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrIsMultiGpuBoard:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrMaxPersistingL2CacheSize:
    case cudaDevAttrMaxAccessPolicyWindowSize:
    case cudaDevAttrSparseCudaArraySupported:
    case cudaDevAttrHostRegisterReadOnlySupported:
    case cudaDevAttrTimelineSemaphoreInteropSupported:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
    case cudaDevAttrGPUDirectRDMAWritesOrdering:
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
    case cudaDevAttrClusterLaunch:
    case cudaDevAttrDeferredMappingCudaArraySupported:
    case cudaDevAttrIpcEventSupport:
    case cudaDevAttrMemSyncDomainCount:
    case cudaDevAttrNumaConfig:
    case cudaDevAttrMpsEnabled:
      return 0;
    default: return std::nullopt;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&](Runtime& runtime) {
    required(count, "the place for the count") = runtime.settings.devices;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&](Runtime& runtime) {
    required(device, "the place for the device") = runtime.current();
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaSetDevice(int device) {
  return call("cudaSetDevice", [&](Runtime& runtime) {
    runtime.set_current(device);
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return call("cudaGetDeviceProperties", [&](Runtime& runtime) {
    runtime.device(device);
    required(properties, "the place for the properties") = properties_of(runtime.gpu(), device);
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", [&](Runtime& runtime) {
    runtime.device(device);
    const std::optional<int> known = attribute_of(runtime.gpu(), device, attribute);
    if (!known) throw ApiError{cudaErrorNotSupported, "attribute " + std::to_string(attribute) + " is not known here"};
    required(value, "the place for the value") = *known;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

// As a GPU's place on the bus is written: domain, bus, device, function.
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return call("cudaDeviceGetPCIBusId", [&](Runtime& runtime) {
    runtime.device(device);
    required(text, "the place for the text");
    if (size < 13) throw ApiError{cudaErrorInvalidValue, "the text takes 13 bytes"};
    const int bus = properties_of(runtime.gpu(), device).pciBusID;
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", bus);
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call("cudaDeviceGetByPCIBusId", [&](Runtime& runtime) {
    required(device, "the place for the device");
    unsigned domain = 0, bus = 0, slot = 0;
    const int read = std::sscanf(&required(text, "the text"), "%x:%x:%x", &domain, &bus, &slot);
    if (read != 3) throw ApiError{cudaErrorInvalidValue, "a text such as 0000:01:00.0 is wanted"};
    for (int k = 0; k < runtime.settings.devices; ++k) {
      if (domain != 0 || slot != 0 || static_cast<int>(bus) != properties_of(runtime.gpu(), k).pciBusID) continue;
      *device = k;
      return cudaSuccess;
    }
    throw ApiError{cudaErrorInvalidDevice, "no device is there"};
  }, AfterFault::kWorks);
}

// All are alike.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return call("cudaChooseDevice", [&](Runtime&) {
    required(wanted, "the wish");
    required(device, "the place for the device") = 0;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call("cudaSetValidDevices", [&](Runtime& runtime) {
    for (int k = 0; k < count; ++k) runtime.device(required(devices + k, "the list of devices"));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [&](Runtime& runtime) {
    runtime.wait_for_device(runtime.current());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceReset() {
  return call("cudaDeviceReset", [&](Runtime& runtime) {
    const int current = runtime.current();
    if (runtime.device().dead == cudaSuccess) runtime.wait_for_device(current);
    std::vector<std::uint64_t> gone;
    for (const auto& [address, each] : runtime.memory.all()) {
      if (each.device == current && !each.of_program) gone.push_back(address);
    }
    for (const std::uint64_t address : gone) runtime.memory.release(address);
    return runtime.device().dead;
  }, AfterFault::kWorks);
}

cudaError_t cudaDriverGetVersion(int* version) {
  return call("cudaDriverGetVersion", [&](Runtime&) {
    required(version, "the place for the version") = kVersion;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", [&](Runtime&) {
    required(version, "the place for the version") = kVersion;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", [&](Runtime& runtime) {
    runtime.device().flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", [&](Runtime& runtime) {
    required(flags, "the place for the flags") = runtime.device().flags;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) { return cudaSuccess; }

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call("cudaDeviceGetCacheConfig", [&](Runtime&) {
    required(config, "the place for the configuration") = cudaFuncCachePreferNone;
    return cudaSuccess;
  });
}

// Limits are kept and told. That of the heap is heeded; room for what kernels print and their stacks is as it must be.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call("cudaDeviceSetLimit", [&](Runtime& runtime) {
    runtime.device().limits[limit] = value;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", [&](Runtime& runtime) {
    const auto standard = [&]() -> std::size_t {
      switch (limit) {
        case cudaLimitStackSize: return 1024;
        case cudaLimitPrintfFifoSize: return 1 << 20;
        case cudaLimitMallocHeapSize: return 8 << 20;
        default: return 0;
      }
    };
    const auto found = runtime.device().limits.find(limit);
    required(value, "the place for the value") = found == runtime.device().limits.end() ? standard() : found->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", [&](Runtime& runtime) {
    runtime.device(device);
    runtime.device(peer);
    required(can, "the place for the answer") = device != peer;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call("cudaDeviceEnablePeerAccess", [&](Runtime& runtime) {
    runtime.device(peer);
    if (flags != 0) throw ApiError{cudaErrorInvalidValue, "the flags are 0"};
    if (peer == runtime.current()) throw ApiError{cudaErrorInvalidDevice, "a device is not its own peer"};
    if (!runtime.device().peers.insert(peer).second) {
      throw ApiError{cudaErrorPeerAccessAlreadyEnabled, "access was enabled before"};
    }
    runtime.device().segments_generation = ~0ull;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call("cudaDeviceDisablePeerAccess", [&](Runtime& runtime) {
    runtime.device(peer);
    if (runtime.device().peers.erase(peer) == 0) {
      throw ApiError{cudaErrorPeerAccessNotEnabled, "access was not enabled"};
    }
    runtime.device().segments_generation = ~0ull;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return call("cudaDeviceGetP2PAttribute", [&](Runtime& runtime) {
    runtime.device(from);
    runtime.device(to);
    if (from == to) throw ApiError{cudaErrorInvalidDevice, "a device is not its own peer"};
    required(value, "the place for the value") =
        attribute == cudaDevP2PAttrAccessSupported || attribute == cudaDevP2PAttrNativeAtomicSupported;
    return cudaSuccess;
  });
}

// Nothing stays in a cache that is not there.
cudaError_t cudaCtxResetPersistingL2Cache() { return cudaSuccess; }

// Of cuda_profiler_api.h. What watches the program sees all of it, whichever part the program marks.
cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"
