// Events: marks in streams, and the times between them, which are those of the model.
#include "api/call.h"

using namespace flashpath::runtime;

namespace {

cudaError_t create(const char* name, cudaEvent_t* event, unsigned flags) {
  return call(name, [&](Runtime& runtime) {
    required(event, "event");
    constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if ((flags & ~kKnown) != 0) throw ApiError{cudaErrorInvalidValue, "vgpu.flags-unknown"};
    *event = reinterpret_cast<cudaEvent_t>(runtime.add_event(flags));
    return cudaSuccess;
  });
}

cudaError_t record(const char* name, cudaEvent_t event, cudaStream_t stream, unsigned flags = cudaEventRecordDefault) {
  return call(name, [&](Runtime& runtime) {
    if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal) {
      throw ApiError{cudaErrorInvalidValue, "vgpu.flags-event-record"};
    }
    runtime.mark(runtime.event(event), runtime.stream(stream));
    return cudaSuccess;
  });
}

// An event of which the host asks. Where it was recorded in a capture it never happens, and the capture is lost.
Event& asked_event(Runtime& runtime, cudaEvent_t handle) {
  Event& asked = runtime.event(handle);
  if (asked.capture != nullptr) {
    asked.capture->is_broken = true;
    throw ApiError{cudaErrorCapturedEvent, "vgpu.event-captured"};
  }
  return asked;
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) { return create("cudaEventCreate", event, cudaEventDefault); }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return create("cudaEventCreateWithFlags", event, flags);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call("cudaEventDestroy", [&](Runtime& runtime) {
    runtime.remove_event(event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) { return record("cudaEventRecord", event, stream); }

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return record("cudaEventRecordWithFlags", event, stream, flags);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call("cudaEventSynchronize", [&](Runtime& runtime) {
    runtime.queue.wait_for(asked_event(runtime, event).mark);
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call("cudaEventQuery", [&](Runtime& runtime) {
    const OperationRef mark = asked_event(runtime, event).mark;
    runtime.refuse_unsafe_call();
    return runtime.queue.is_done({mark}) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return call("cudaEventElapsedTime", [&](Runtime& runtime) {
    const Event& first = asked_event(runtime, from);
    const Event& last = asked_event(runtime, to);
    const auto has_time = [](const Event& each) { return (each.flags & cudaEventDisableTiming) == 0; };
    if (!has_time(first) || !has_time(last) || first.mark == nullptr || last.mark == nullptr) {
      throw ApiError{cudaErrorInvalidResourceHandle, "vgpu.events-without-times"};
    }
    if (!first.mark->done || !last.mark->done) return cudaErrorNotReady;
    required(milliseconds, "ms") = static_cast<float>((last.mark->end - first.mark->end) * 1e3);
    return cudaSuccess;
  });
}

}  // extern "C"
