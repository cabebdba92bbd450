// What every function of the API does around its own work.
#pragma once

#include <exception>
#include <new>
#include <utility>

#include "runtime.h"

namespace flashpath::runtime {

// Whether a call still works on a device whose context has died of a fault.
enum class AfterFault { kFails, kWorks };

void tell_refused(const char* name, const ApiError& error);
void tell_failure(const char* name, const std::exception& error);

// Runs `body` with the runtime, alone; gives its error code to the thread's last error.
template <class F>
cudaError_t call(const char* name, F&& body, AfterFault after_fault = AfterFault::kFails) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  cudaError_t error = cudaSuccess;
  if (after_fault == AfterFault::kFails) error = runtime.device().dead;
  if (error == cudaSuccess) {
    try {
      error = std::forward<F>(body)(runtime);
      // What the call waited for may have failed.
      if (error == cudaSuccess && after_fault == AfterFault::kFails) error = runtime.device().dead;
    } catch (const ApiError& refused) {
      error = refused.code;
      tell_refused(name, refused);
    } catch (const std::bad_alloc&) {
      error = cudaErrorMemoryAllocation;
    } catch (const std::exception& failure) {  // the device code is not what the engine knows
      error = cudaErrorNotSupported;
      tell_failure(name, failure);
    }
  }
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error() = error;
  return error;
}

// Refuses a pointer that must not be null.
template <class T>
T& required(T* pointer, const char* what) {
  if (pointer == nullptr) throw ApiError{cudaErrorInvalidValue, std::string(what) + " is a null pointer"};
  return *pointer;
}

}  // namespace flashpath::runtime
