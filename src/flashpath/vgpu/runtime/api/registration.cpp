// What a program does before main: nvcc has it register its device code, its kernels and its variables.
#include "api/call.h"

using namespace flashpath::runtime;

namespace {

Module* module_of(void** handle) { return reinterpret_cast<Module*>(handle); }

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  return reinterpret_cast<void**>(runtime.registry.add_module(wrapper));
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void**) {}

// Called before the host uses a __managed__ variable for the first time.
char __cudaInitModule(void** handle) {
  const cudaError_t error = call("__managed__", [&](Runtime& runtime) {
    runtime.registry.on(*module_of(handle), runtime.current());
    return cudaSuccess;
  });
  return error == cudaSuccess;
}

void __cudaRegisterFunction(void** handle, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*, dim3*,
                            int*) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.registry.add_kernel(module_of(handle), host, name);
}

void __cudaRegisterVar(void** handle, char* host, char*, const char* name, int, size_t size, int, int) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.registry.add_variable(host, {module_of(handle), name, size, false, nullptr});
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* name, int, size_t size, int, int) {
  Runtime& runtime = Runtime::get();
  const std::scoped_lock lock(runtime.mutex);
  runtime.registry.add_variable(host_pointer, {module_of(handle), name, size, true, host_pointer});
}

}  // extern "C"
