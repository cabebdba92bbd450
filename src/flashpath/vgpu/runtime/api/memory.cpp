// Memory: of devices, pinned, registered, managed.
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "api/call.h"
#include "ground/sizes.h"

using namespace flashpath::runtime;

namespace {

constexpr std::size_t kPitchAlignment = 512;

void* pointer_to(const Allocation& allocation) { return reinterpret_cast<void*>(allocation.address); }

// Pinned memory is the host's; managed memory may be wherever there is room.
std::uint64_t capacity_for(const Runtime& runtime, MemoryKind kind) {
  const std::uint64_t of_device = runtime.gpu().memory_bytes;
  if (kind == MemoryKind::kDevice) return of_device;
  const auto of_system = [](int name) { return static_cast<std::uint64_t>(sysconf(name)); };
  const std::uint64_t of_host = of_system(_SC_PHYS_PAGES) * of_system(_SC_PAGESIZE);
  return kind == MemoryKind::kManaged ? of_host + of_device : of_host;
}

const Allocation& allocate(Runtime& runtime, MemoryKind kind, std::size_t size) {
  const std::uint64_t capacity = capacity_for(runtime, kind);
  const Allocation* const made = runtime.memory.allocate(kind, size, runtime.current(), capacity);
  if (made == nullptr) {
    const flashpath::MessageParameter bytes("bytes", size), most("most", capacity);
    if (kind == MemoryKind::kDevice) {
      throw ApiError{cudaErrorMemoryAllocation,
                     {"vgpu.device-memory-full",
                      {bytes, most, {"gpu", runtime.gpu().name}, {"used", runtime.memory.used(runtime.current())}}}};
    }
    const bool is_managed = kind == MemoryKind::kManaged;
    throw ApiError{cudaErrorMemoryAllocation,
                   {is_managed ? "vgpu.managed-memory-full" : "vgpu.host-memory-full", {bytes, most}}};
  }
  const bool is_pinned = kind == MemoryKind::kPinned;
  runtime.record.allocation(kind == MemoryKind::kDevice ? "device" : is_pinned ? "pinned" : "managed", size);
  return *made;
}

// By a call that no capture takes down.
const Allocation& allocate_now(Runtime& runtime, MemoryKind kind, std::size_t size) {
  runtime.refuse_unsafe_call();
  return allocate(runtime, kind, size);
}

// What a program may free by that pointer, be it now or in the order of a stream; nullptr: nothing.
const Allocation* begins_at(const Runtime& runtime, void* pointer) {
  const Allocation* const found = runtime.memory.find(pointer, 0);
  if (found == nullptr || found->address != reinterpret_cast<std::uint64_t>(pointer)) return nullptr;
  const bool is_its_own = found->kind != MemoryKind::kRegistered && !found->of_program;
  return is_its_own && !found->is_leaving ? found : nullptr;
}

[[noreturn]] void refuse_to_free(const Runtime& runtime, void* pointer) {
  const auto freed_before = [](const CallSiteRef& site) {
    return ApiError{cudaErrorInvalidValue, "vgpu.freed-before", "use-after-free", {"vgpu.freed", site}};
  };
  const Allocation* const found = runtime.memory.find(pointer, 0);
  if (found != nullptr && found->is_leaving) throw freed_before(found->left);
  if (const Freed* const freed = runtime.memory.was_freed(pointer)) throw freed_before(freed->freed);
  const bool is_pinned = found != nullptr && found->kind == MemoryKind::kPinned;
  throw ApiError{cudaErrorInvalidValue,
                 is_pinned ? "vgpu.pinned-needs-free-host" : "vgpu.nothing-allocated",
                 "bad-pointer"};
}

// All that is on its way to the memory ends first.
cudaError_t release(Runtime& runtime, void* pointer, bool of_host) {
  if (pointer == nullptr) return cudaSuccess;
  runtime.refuse_unsafe_call();
  const Allocation* const found = begins_at(runtime, pointer);
  if (found == nullptr || (found->kind == MemoryKind::kPinned) != of_host) refuse_to_free(runtime, pointer);
  for (int k = 0; k < runtime.settings.devices; ++k) runtime.wait_for_device(k);
  runtime.memory.release(found->address);
  return cudaSuccess;
}

void check_managed(const Runtime& runtime, const void* pointer, std::size_t size) {
  const Allocation* const found = runtime.memory.find(pointer, size);
  if (found == nullptr || found->kind != MemoryKind::kManaged) {
    throw ApiError{cudaErrorInvalidValue, "vgpu.not-managed"};
  }
}

void check_place(Runtime& runtime, const cudaMemLocation& location) {
  if (location.type == cudaMemLocationTypeInvalid) throw ApiError{cudaErrorInvalidValue, "vgpu.no-such-location"};
  if (location.type == cudaMemLocationTypeDevice) runtime.device(location.id);
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t size) {
  return call("cudaMalloc", [&](Runtime& runtime) {
    required(pointer, "devPtr");
    *pointer = size == 0 ? nullptr : pointer_to(allocate_now(runtime, MemoryKind::kDevice, size));
    return cudaSuccess;
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call("cudaMallocPitch", [&](Runtime& runtime) {
    required(pointer, "devPtr");
    required(pitch, "pitch");
    const std::size_t row = rounded(width, kPitchAlignment);
    const std::size_t size = product(row, height);
    *pointer = size == 0 ? nullptr : pointer_to(allocate_now(runtime, MemoryKind::kDevice, size));
    *pitch = row;
    return cudaSuccess;
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  return call("cudaMalloc3D", [&](Runtime& runtime) {
    required(pitched, "pitchedDevPtr");
    const std::size_t pitch = rounded(extent.width, kPitchAlignment);
    const std::size_t size = product(product(pitch, extent.height), extent.depth);
    void* const made = size == 0 ? nullptr : pointer_to(allocate_now(runtime, MemoryKind::kDevice, size));
    *pitched = {made, pitch, extent.width, extent.height};
    return cudaSuccess;
  });
}

cudaError_t cudaMallocAsync(void** pointer, size_t size, cudaStream_t stream) {
  return call("cudaMallocAsync", [&](Runtime& runtime) {
    runtime.stream(stream);
    required(pointer, "devPtr");
    *pointer = size == 0 ? nullptr : pointer_to(allocate(runtime, MemoryKind::kDevice, size));
    return cudaSuccess;
  });
}

cudaError_t cudaFree(void* pointer) {
  return call("cudaFree", [&](Runtime& runtime) { return release(runtime, pointer, false); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return call("cudaFreeAsync", [&](Runtime& runtime) {
    Stream& order = runtime.stream(stream);
    if (pointer == nullptr) return cudaSuccess;
    const Allocation* const found = begins_at(runtime, pointer);
    if (found == nullptr || found->kind == MemoryKind::kPinned) refuse_to_free(runtime, pointer);
    if (found->kind == MemoryKind::kManaged) {
      throw ApiError{cudaErrorNotSupported, "vgpu.managed-freed-by-stream"};
    }
    const std::uint64_t address = found->address;
    Operation operation;
    operation.name = operation.kind = "free";
    if (runtime.checks != nullptr) {
      operation.accesses = std::make_shared<Accesses>();
      operation.accesses->written.add({address, address + found->size});
    }
    operation.work = [&runtime, address](Operation&) { runtime.memory.release(address); };
    if (runtime.submit(order, std::move(operation)) != nullptr) runtime.memory.let_leave(address);
    return cudaSuccess;
  });
}

cudaError_t cudaHostAlloc(void** pointer, size_t size, unsigned flags) {
  return call("cudaHostAlloc", [&](Runtime& runtime) {
    required(pointer, "pHost");
    constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if ((flags & ~kKnown) != 0) throw ApiError{cudaErrorInvalidValue, "vgpu.flags-unknown"};
    *pointer = size == 0 ? nullptr : pointer_to(allocate_now(runtime, MemoryKind::kPinned, size));
    return cudaSuccess;
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t size) { return cudaHostAlloc(pointer, size, cudaHostAllocDefault); }

cudaError_t cudaFreeHost(void* pointer) {
  return call("cudaFreeHost", [&](Runtime& runtime) { return release(runtime, pointer, true); });
}

cudaError_t cudaMallocManaged(void** pointer, size_t size, unsigned flags) {
  return call("cudaMallocManaged", [&](Runtime& runtime) {
    required(pointer, "devPtr");
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.flags-managed"};
    }
    *pointer = size == 0 ? nullptr : pointer_to(allocate_now(runtime, MemoryKind::kManaged, size));
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t size, unsigned) {
  return call("cudaHostRegister", [&](Runtime& runtime) {
    if (pointer == nullptr || size == 0) throw ApiError{cudaErrorInvalidValue, "vgpu.no-memory-given"};
    if (!Memory::is_mapped(pointer, size)) {
      throw ApiError{cudaErrorInvalidValue, {"vgpu.not-all-memory", {{"bytes", size}}}, "bad-pointer"};
    }
    if (const Allocation* const known = runtime.memory.overlapping(pointer, size)) {
      if (known->kind == MemoryKind::kRegistered) {
        throw ApiError{cudaErrorHostMemoryAlreadyRegistered, "vgpu.registered-already"};
      }
      throw ApiError{cudaErrorInvalidValue, "vgpu.allocated-by-cuda"};
    }
    runtime.refuse_unsafe_call();
    Allocation given;
    given.address = reinterpret_cast<std::uint64_t>(pointer);
    given.size = size;
    given.bytes = static_cast<std::byte*>(pointer);
    given.kind = MemoryKind::kRegistered;
    given.device = runtime.current();
    runtime.memory.adopt(given);
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return call("cudaHostUnregister", [&](Runtime& runtime) {
    const Allocation* const found = runtime.memory.find(pointer);
    if (found == nullptr) {
      throw ApiError{cudaErrorHostMemoryNotRegistered, "vgpu.nothing-registered", "bad-pointer"};
    }
    if (found->kind != MemoryKind::kRegistered || found->bytes != pointer) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.not-the-registered-pointer", "bad-pointer"};
    }
    runtime.refuse_unsafe_call();
    for (int k = 0; k < runtime.settings.devices; ++k) runtime.wait_for_device(k);
    runtime.memory.release(found->address);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetDevicePointer(void** device, void* host, unsigned) {
  return call("cudaHostGetDevicePointer", [&](Runtime& runtime) {
    required(device, "pDevice");
    const Allocation* const found = runtime.memory.find(host);
    if (found == nullptr || found->kind == MemoryKind::kDevice || found->kind == MemoryKind::kManaged) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.not-pinned"};
    }
    *device = host;
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  return call("cudaHostGetFlags", [&](Runtime& runtime) {
    const Allocation* const found = runtime.memory.find(host);
    if (found == nullptr || found->kind == MemoryKind::kDevice) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.not-pinned"};
    }
    required(flags, "pFlags") = cudaHostAllocMapped;  // whatever was asked for
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return call("cudaMemGetInfo", [&](Runtime& runtime) {
    const std::uint64_t all = runtime.gpu().memory_bytes;
    if (free != nullptr) *free = all - std::min(all, runtime.memory.used(runtime.current()));
    if (total != nullptr) *total = all;
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return call("cudaPointerGetAttributes", [&](Runtime& runtime) {
    cudaPointerAttributes& told = required(attributes, "attributes");
    told = {};
    told.type = cudaMemoryTypeUnregistered;
    told.device = cudaInvalidDeviceId;
    told.hostPointer = const_cast<void*>(pointer);
    const Allocation* const found = runtime.memory.find(pointer);
    if (found == nullptr) return cudaSuccess;
    told.device = found->device;
    told.devicePointer = const_cast<void*>(pointer);
    switch (found->kind) {
      case MemoryKind::kDevice:
        told.type = cudaMemoryTypeDevice;
        told.hostPointer = nullptr;
        break;
      case MemoryKind::kManaged: told.type = cudaMemoryTypeManaged; break;
      default: told.type = cudaMemoryTypeHost; break;
    }
    return cudaSuccess;
  });
}

// Where managed memory is best kept is of no concern here: there is only one memory.
cudaError_t cudaMemAdvise(const void* pointer, size_t size, cudaMemoryAdvise advice, cudaMemLocation location) {
  return call("cudaMemAdvise", [&](Runtime& runtime) {
    check_managed(runtime, pointer, size);
    const bool is_about_a_place = advice == cudaMemAdviseSetPreferredLocation ||
                                  advice == cudaMemAdviseSetAccessedBy || advice == cudaMemAdviseUnsetAccessedBy;
    if (is_about_a_place) check_place(runtime, location);
    return cudaSuccess;
  });
}

// Host and GPU may use managed memory at the same time, whoever it is attached to.
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned flags) {
  return call("cudaStreamAttachMemAsync", [&](Runtime& runtime) {
    const Stream& owner = runtime.stream(stream);
    check_managed(runtime, pointer, 1);
    if (flags == cudaMemAttachSingle && owner.number == 0) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.attached-to-default-stream"};
    }
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost && flags != cudaMemAttachSingle) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.flags-attach"};
    }
    return cudaSuccess;
  });
}

// What a texel would be: the description is there, the arrays that are made of it are not.
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t size, cudaMemLocation location, unsigned,
                                 cudaStream_t stream) {
  return call("cudaMemPrefetchAsync", [&](Runtime& runtime) {
    if (size == 0) throw ApiError{cudaErrorInvalidValue, "vgpu.no-bytes-asked"};
    check_managed(runtime, pointer, size);
    check_place(runtime, location);
    Operation operation;
    operation.name = operation.kind = "prefetch";
    runtime.submit(runtime.stream(stream), std::move(operation));
    return cudaSuccess;
  });
}

}  // extern "C"
