// What a program does before main: nvcc has it register its device code, its kernels and its variables.
#include "api/call.h"
#include "operations/launch.h"

using namespace flashpath::runtime;

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared;
  cudaStream_t stream;
};

// Never destroyed: destructors of the program's own globals may launch, too.
thread_local std::vector<Configuration>& configurations = *new std::vector<Configuration>;
thread_local bool has_popped = false;

Module* module_of(void** handle) { return reinterpret_cast<Module*>(handle); }

}  // namespace

bool flashpath::runtime::comes_from_brackets() { return std::exchange(has_popped, false); }

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

// <<<grid, block, shared, stream>>> is pushed before the arguments are evaluated, and popped by the kernel's stub.
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
  configurations.push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations.empty()) return cudaErrorMissingConfiguration;
  const Configuration& last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *shared = last.shared;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  configurations.pop_back();
  has_popped = true;
  return cudaSuccess;
}

cudaError_t cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  return call("cudaGetKernel", [&](Runtime& runtime) {
    Kernel* const found = runtime.registry.kernel(host);
    if (found == nullptr) throw ApiError{cudaErrorInvalidDeviceFunction, "vgpu.program-without-kernel"};
    required(kernel, "kernelPtr") = reinterpret_cast<cudaKernel_t>(found);
    return cudaSuccess;
  }, AfterFault::kWorks);
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) { return cudaGetKernel(kernel, host); }

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  comes_from_brackets();
  return call(kBrackets, [&](Runtime& runtime) {
    launch(runtime, *reinterpret_cast<Kernel*>(kernel), {grid, block, shared}, arguments, runtime.stream(stream));
    return cudaSuccess;
  });
}

}  // extern "C"
