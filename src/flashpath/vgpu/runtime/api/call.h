// What every function of the API does around its own work.
#pragma once

#include <new>
#include <utility>

#include "ground/per_thread.h"
#include "messages/failure.h"
#include "state/runtime.h"

namespace flashpath::runtime {

// Whether a call still works on a device whose context has died of a fault.
enum class AfterFault { kFails, kWorks };

inline constexpr char kBrackets[] = "<<<…>>>";  // a launch, as the program spells it

// By the first call: see Runtime::is_unloaded.
void unload_at_exit();
// A call returns this error.
void note_error(Runtime& runtime, const char* name, const ApiError& error);

// While a call is under way, be the program checked or not.
class CallUnderWay {
 public:
  explicit CallUnderWay(Checks* checks) : checks_(checks) {
    if (checks_ != nullptr) checks_->begin_call();
  }
  ~CallUnderWay() {
    forget_own_stream();
    if (checks_ != nullptr) checks_->end_call();
  }
  CallUnderWay(const CallUnderWay&) = delete;

 private:
  Checks* checks_;
};

// Runs `body` with the runtime, alone; gives its error code to the thread's last error.
template <class F>
cudaError_t call(const char* name, F&& body, AfterFault after_fault = AfterFault::kFails) {
  Runtime& runtime = Runtime::get();
  if (runtime.is_forked) return last_error() = cudaErrorInitializationError;
  if (++runtime.calls == 1) unload_at_exit();
  const std::scoped_lock lock(runtime.mutex);
  const CallUnderWay under_way(runtime.checks.get());
  ApiError error;
  if (after_fault == AfterFault::kFails) error.code = runtime.device().dead;
  if (error.code == cudaSuccess) {
    try {
      error.code = std::forward<F>(body)(runtime);
      // What the call waited for may have failed.
      if (error.code == cudaSuccess && after_fault == AfterFault::kFails) error.code = runtime.device().dead;
    } catch (const ApiError& refused) {
      error = refused;
    } catch (const std::bad_alloc&) {
      error.code = cudaErrorMemoryAllocation;
    } catch (const Failure& failure) {  // the device code is not what the engine knows
      error = {cudaErrorNotSupported,
               {"vgpu.device-code-fails", {{"problem", failure.problem}, {"place", failure.place}}}};
    }
  }
  if (runtime.is_unloaded) error.code = cudaErrorCudartUnloading;
  if (error.code != cudaSuccess && error.code != cudaErrorNotReady) note_error(runtime, name, error);
  return error.code;
}

// Refuses a pointer that must not be null; it is told by the name that CUDA's header gives to the parameter.
template <class T>
T& required(T* pointer, const char* parameter) {
  if (pointer == nullptr) throw ApiError{cudaErrorInvalidValue, {"vgpu.argument-is-null", {{"parameter", parameter}}}};
  return *pointer;
}

}  // namespace flashpath::runtime
