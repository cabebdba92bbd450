// Streams: order, waiting, and functions of the host.
#include <algorithm>
#include <functional>

#include "api/call.h"

using namespace flashpath::runtime;

namespace {

// What the driver of a GPU of today tells: the lower number is the more urgent.
constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

cudaStream_t handle_of(Stream* stream) { return reinterpret_cast<cudaStream_t>(stream); }

cudaError_t create(const char* name, cudaStream_t* stream, unsigned flags, int priority) {
  return call(name, [&](Runtime& runtime) {
    required(stream, "pStream");
    if (flags != cudaStreamDefault && flags != cudaStreamNonBlocking) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.flags-stream"};
    }
    *stream = handle_of(runtime.add_stream(flags, std::clamp(priority, kGreatestPriority, kLeastPriority)));
    return cudaSuccess;
  });
}

bool is_attribute(cudaStreamAttrID attribute) {
  return attribute == cudaStreamAttributeAccessPolicyWindow || attribute == cudaStreamAttributeSynchronizationPolicy ||
         attribute == cudaStreamAttributeMemSyncDomainMap || attribute == cudaStreamAttributeMemSyncDomain ||
         attribute == cudaStreamAttributePriority;
}

void check_window(const Gpu& gpu, const cudaAccessPolicyWindow& window) {
  if (window.num_bytes > gpu.access_policy_window) {
    throw ApiError{cudaErrorInvalidValue, {"vgpu.window-too-large", {{"bytes", window.num_bytes},
                                                                            {"gpu", gpu.name},
                                                                            {"most", gpu.access_policy_window}}}};
  }
  if (!(window.hitRatio >= 0 && window.hitRatio <= 1)) {
    throw ApiError{cudaErrorInvalidValue, "vgpu.hit-ratio"};
  }
}

void add_host_function(Runtime& runtime, cudaStream_t stream, std::function<void()> function) {
  Operation operation;
  operation.name = operation.kind = "host function";
  operation.work = [function = std::move(function)](Operation&) { function(); };
  runtime.submit(runtime.stream(stream), std::move(operation));
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) { return create("cudaStreamCreate", stream, cudaStreamDefault, 0); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return create("cudaStreamCreateWithFlags", stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return create("cudaStreamCreateWithPriority", stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call("cudaStreamDestroy", [&](Runtime& runtime) {
    runtime.remove_stream(stream);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call("cudaStreamSynchronize", [&](Runtime& runtime) {
    runtime.wait_for(runtime.stream(stream));
    return cudaSuccess;
  });
}

// Work is done as late as is allowed: the first question finds it undone, and has it done.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return call("cudaStreamQuery", [&](Runtime& runtime) {
    Stream& asked = runtime.stream(stream);
    runtime.refuse_in_capture(asked, "vgpu.captured-stream-asked");
    return runtime.queue.is_done(runtime.last_of(asked)) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return call("cudaStreamWaitEvent", [&](Runtime& runtime) {
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.flags-event-wait"};
    }
    runtime.wait_for_event(runtime.stream(stream), runtime.event(event));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return call("cudaStreamGetPriority", [&](Runtime& runtime) {
    required(priority, "priority") = runtime.stream(stream).priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return call("cudaStreamGetFlags", [&](Runtime& runtime) {
    required(flags, "flags") = runtime.stream(stream).flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return call("cudaStreamGetId", [&](Runtime& runtime) {
    required(id, "streamId") = runtime.stream(stream).number;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return call("cudaStreamGetDevice", [&](Runtime& runtime) {
    required(device, "device") = runtime.stream(stream).device;
    return cudaSuccess;
  });
}

// They are kept and told. They change the speed of a GPU, not what it computes: nothing is done with them here.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue* value) {
  return call("cudaStreamSetAttribute", [&](Runtime& runtime) {
    Stream& of = runtime.stream(stream);
    const cudaStreamAttrValue& given = required(value, "value");
    if (!is_attribute(attribute)) throw ApiError{cudaErrorInvalidValue, "vgpu.no-stream-attribute"};
    if (attribute == cudaStreamAttributeAccessPolicyWindow) check_window(runtime.gpu(), given.accessPolicyWindow);
    if (attribute == cudaStreamAttributePriority) {
      of.priority = std::clamp(given.priority, kGreatestPriority, kLeastPriority);
    } else {
      of.attributes.insert_or_assign(attribute, given);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, cudaStreamAttrValue* value) {
  return call("cudaStreamGetAttribute", [&](Runtime& runtime) {
    const Stream& of = runtime.stream(stream);
    cudaStreamAttrValue& told = required(value, "value");
    if (!is_attribute(attribute)) throw ApiError{cudaErrorInvalidValue, "vgpu.no-stream-attribute"};
    const auto set = of.attributes.find(attribute);
    told = set == of.attributes.end() ? cudaStreamAttrValue{} : set->second;
    if (attribute == cudaStreamAttributePriority) told.priority = of.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return call("cudaStreamCopyAttributes", [&](Runtime& runtime) {
    const Stream& given = runtime.stream(from);
    Stream& changed = runtime.stream(to);
    changed.priority = given.priority;
    changed.attributes = given.attributes;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call("cudaDeviceGetStreamPriorityRange", [&](Runtime&) {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return call("cudaLaunchHostFunc", [&](Runtime& runtime) {
    if (function == nullptr) throw ApiError{cudaErrorInvalidValue, "vgpu.function-is-null"};
    add_host_function(runtime, stream, [=] { function(data); });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t function, void* data, unsigned flags) {
  return call("cudaStreamAddCallback", [&](Runtime& runtime) {
    if (function == nullptr) throw ApiError{cudaErrorInvalidValue, "vgpu.function-is-null"};
    if (flags != 0) throw ApiError{cudaErrorInvalidValue, "vgpu.flags-not-zero"};
    add_host_function(runtime, stream, [=, &runtime] { function(stream, runtime.device().dead, data); });
    return cudaSuccess;
  });
}

}  // extern "C"
