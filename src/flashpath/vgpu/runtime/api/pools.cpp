// Memory pools: cudaMallocAsync takes from the pool of its device. Nothing is kept back here: what is freed is free.
#include <cstdint>
#include <list>
#include <map>

#include "api/call.h"

using namespace flashpath::runtime;

namespace {

struct Pool {
  int device = 0;
  bool is_default = false;
  std::map<cudaMemPoolAttr, std::uint64_t> set;  // by the program
};

// Pools live as long as the program: a stale handle is seen.
std::list<Pool>& pools() {
  static std::list<Pool>& all = *new std::list<Pool>;  // as long as destructors of the program may call
  return all;
}

std::map<int, Pool*>& current_pools() {
  static std::map<int, Pool*>& by_device = *new std::map<int, Pool*>;
  return by_device;
}

cudaMemPool_t handle_of(Pool* pool) { return reinterpret_cast<cudaMemPool_t>(pool); }

Pool& pool_of(cudaMemPool_t handle) {
  for (Pool& each : pools()) {
    if (handle_of(&each) == handle) return each;
  }
  throw ApiError{cudaErrorInvalidValue, "vgpu.no-such-pool"};
}

Pool& default_pool(Runtime& runtime, int device) {
  runtime.device(device);
  for (Pool& each : pools()) {
    if (each.is_default && each.device == device) return each;
  }
  return pools().emplace_back(Pool{device, true, {}});
}

bool is_switch(cudaMemPoolAttr attribute) {
  return attribute == cudaMemPoolReuseFollowEventDependencies || attribute == cudaMemPoolReuseAllowOpportunistic ||
         attribute == cudaMemPoolReuseAllowInternalDependencies;
}

}  // namespace

extern "C" {

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  return call("cudaDeviceGetDefaultMemPool", [&](Runtime& runtime) {
    required(pool, "memPool") = handle_of(&default_pool(runtime, device));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  return call("cudaDeviceGetMemPool", [&](Runtime& runtime) {
    Pool* const set = current_pools()[device];
    required(pool, "memPool") = handle_of(set != nullptr ? set : &default_pool(runtime, device));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return call("cudaDeviceSetMemPool", [&](Runtime& runtime) {
    runtime.device(device);
    if (pool_of(pool).device != device) throw ApiError{cudaErrorInvalidValue, "vgpu.pool-of-other-device"};
    current_pools()[device] = &pool_of(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  return call("cudaMemPoolCreate", [&](Runtime& runtime) {
    const cudaMemPoolProps& wanted = required(properties, "poolProps");
    required(pool, "memPool");
    if (wanted.location.type != cudaMemLocationTypeDevice || wanted.allocType != cudaMemAllocationTypePinned) {
      throw ApiError{cudaErrorNotSupported, "vgpu.pools-of-device"};
    }
    runtime.device(wanted.location.id);
    *pool = handle_of(&pools().emplace_back(Pool{wanted.location.id, false, {}}));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return call("cudaMemPoolDestroy", [&](Runtime&) {
    const Pool& gone = pool_of(pool);
    if (gone.is_default) throw ApiError{cudaErrorInvalidValue, "vgpu.default-pool-stays"};
    if (current_pools()[gone.device] == &gone) current_pools()[gone.device] = nullptr;
    pools().remove_if([&](const Pool& each) { return &each == &gone; });
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call("cudaMemPoolSetAttribute", [&](Runtime&) {
    required(static_cast<char*>(value), "value");
    const std::uint64_t wanted = is_switch(attribute) ? static_cast<std::uint64_t>(*static_cast<const int*>(value))
                                                      : *static_cast<const std::uint64_t*>(value);
    pool_of(pool).set[attribute] = wanted;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  return call("cudaMemPoolGetAttribute", [&](Runtime& runtime) {
    required(static_cast<char*>(value), "value");
    const Pool& asked = pool_of(pool);
    const auto set = asked.set.find(attribute);
    if (is_switch(attribute)) {
      *static_cast<int*>(value) = set == asked.set.end() ? 1 : static_cast<int>(set->second);
    } else if (attribute == cudaMemPoolAttrReleaseThreshold) {
      *static_cast<std::uint64_t*>(value) = set == asked.set.end() ? 0 : set->second;
    } else if (asked.is_default) {  // of what is reserved and used, now or at most
      *static_cast<std::uint64_t*>(value) = runtime.memory.used(asked.device);
    } else {
      throw ApiError{cudaErrorNotSupported, "vgpu.pool-shares-unknown"};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return call("cudaMemPoolTrimTo", [&](Runtime&) {
    pool_of(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return call("cudaMallocFromPoolAsync", [&](Runtime& runtime) {
    const int current = runtime.current();
    runtime.set_current(pool_of(pool).device);
    const cudaError_t error = cudaMallocAsync(pointer, size, stream);
    runtime.set_current(current);
    return error;
  });
}

}  // extern "C"
