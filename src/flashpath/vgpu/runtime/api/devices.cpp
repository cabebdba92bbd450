// Devices: which there are, what they can do, and waiting for them.
#include <cstdint>
#include <cstdio>

#include "api/call.h"
#include "api/limits.h"
#include "device/properties.h"

using namespace flashpath::runtime;

namespace {

constexpr int kVersion = CUDART_VERSION;

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return call("cudaGetDeviceCount", [&](Runtime& runtime) {
    required(count, "count") = runtime.settings.devices;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaGetDevice(int* device) {
  return call("cudaGetDevice", [&](Runtime& runtime) {
    required(device, "device") = runtime.current();
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
    required(properties, "prop") = properties_of(runtime.gpu(), device);
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return call("cudaDeviceGetAttribute", [&](Runtime& runtime) {
    runtime.device(device);
    const std::optional<int> known = attribute_of(runtime.gpu(), device, attribute);
    if (!known) throw ApiError{cudaErrorInvalidValue, {"vgpu.no-such-attribute", {{"number", static_cast<int>(attribute)}}}};
    required(value, "value") = *known;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

// As a GPU's place on the bus is written: domain, bus, device, function.
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return call("cudaDeviceGetPCIBusId", [&](Runtime& runtime) {
    runtime.device(device);
    required(text, "pciBusId");
    if (size < 13) throw ApiError{cudaErrorInvalidValue, "vgpu.bus-id-too-short"};
    const int bus = properties_of(runtime.gpu(), device).pciBusID;
    std::snprintf(text, static_cast<std::size_t>(size), "0000:%02X:00.0", bus);
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return call("cudaDeviceGetByPCIBusId", [&](Runtime& runtime) {
    required(device, "device");
    unsigned domain = 0, bus = 0, slot = 0;
    const int read = std::sscanf(&required(text, "pciBusId"), "%x:%x:%x", &domain, &bus, &slot);
    if (read != 3) throw ApiError{cudaErrorInvalidValue, "vgpu.not-a-bus-id"};
    for (int k = 0; k < runtime.settings.devices; ++k) {
      if (domain != 0 || slot != 0 || static_cast<int>(bus) != properties_of(runtime.gpu(), k).pciBusID) continue;
      *device = k;
      return cudaSuccess;
    }
    throw ApiError{cudaErrorInvalidDevice, "vgpu.no-device-there"};
  }, AfterFault::kWorks);
}

// All are alike.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wanted) {
  return call("cudaChooseDevice", [&](Runtime&) {
    required(wanted, "prop");
    required(device, "device") = 0;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaSetValidDevices(int* devices, int count) {
  return call("cudaSetValidDevices", [&](Runtime& runtime) {
    for (int k = 0; k < count; ++k) runtime.device(required(devices + k, "device_arr"));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call("cudaDeviceSynchronize", [&](Runtime& runtime) {
    runtime.refuse_in_any_capture(runtime.current(), "vgpu.wait-for-captured-device");
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
    required(version, "driverVersion") = kVersion;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return call("cudaRuntimeGetVersion", [&](Runtime&) {
    required(version, "runtimeVersion") = kVersion;
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return call("cudaSetDeviceFlags", [&](Runtime& runtime) {
    constexpr unsigned kKnown =
        cudaDeviceScheduleMask | cudaDeviceMapHost | cudaDeviceLmemResizeToMax | cudaDeviceSyncMemops;
    if ((flags & ~kKnown) != 0) throw ApiError{cudaErrorInvalidValue, "vgpu.flags-unknown"};
    runtime.device().flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return call("cudaGetDeviceFlags", [&](Runtime& runtime) {
    // Pinned memory is always mapped, asked for or not.
    required(flags, "flags") = runtime.device().flags | cudaDeviceMapHost;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  return call("cudaDeviceSetCacheConfig", [&](Runtime& runtime) {
    runtime.device().cache = config;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call("cudaDeviceGetCacheConfig", [&](Runtime& runtime) {
    required(config, "pCacheConfig") = runtime.device().cache;
    return cudaSuccess;
  });
}

// Limits are kept and told. That of the heap is heeded; room for what kernels print and their stacks is as it must be.
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return call("cudaDeviceSetLimit", [&](Runtime& runtime) {
    runtime.device().limits[limit] = limit_to_set(runtime.gpu(), limit, value);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return call("cudaDeviceGetLimit", [&](Runtime& runtime) {
    const std::size_t standard = standard_limit(runtime.gpu(), limit);
    const auto set = runtime.device().limits.find(limit);
    required(value, "pValue") = set == runtime.device().limits.end() ? standard : set->second;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call("cudaDeviceCanAccessPeer", [&](Runtime& runtime) {
    runtime.device(device);
    runtime.device(peer);
    required(can, "canAccessPeer") = device != peer;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call("cudaDeviceEnablePeerAccess", [&](Runtime& runtime) {
    runtime.device(peer);
    if (flags != 0) throw ApiError{cudaErrorInvalidValue, "vgpu.flags-not-zero"};
    if (peer == runtime.current()) throw ApiError{cudaErrorPeerAccessUnsupported, "vgpu.own-peer"};
    if (!runtime.device().peers.insert(peer).second) {
      throw ApiError{cudaErrorPeerAccessAlreadyEnabled, "vgpu.peer-enabled-before"};
    }
    runtime.device().segments_generation = ~0ull;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call("cudaDeviceDisablePeerAccess", [&](Runtime& runtime) {
    runtime.device(peer);
    if (runtime.device().peers.erase(peer) == 0) {
      throw ApiError{cudaErrorPeerAccessNotEnabled, "vgpu.peer-not-enabled"};
    }
    runtime.device().segments_generation = ~0ull;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return call("cudaDeviceGetP2PAttribute", [&](Runtime& runtime) {
    runtime.device(from);
    runtime.device(to);
    if (from == to) throw ApiError{cudaErrorInvalidDevice, "vgpu.own-peer"};
    required(value, "value") =
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
