// Launches by function, and what a kernel takes and may take.
#include <algorithm>

#include "api/call.h"
#include "device/occupancy.h"
#include "work/launch.h"

using namespace flashpath::runtime;

namespace {

Kernel& kernel_of(Runtime& runtime, const void* function) {
  Kernel* const found = runtime.registry.kernel(function);
  if (found == nullptr) throw ApiError{cudaErrorInvalidDeviceFunction, "the program has no such kernel"};
  return *found;
}

// The same, once its resources are known.
Kernel& ready_kernel(Runtime& runtime, const void* function) {
  Kernel& kernel = kernel_of(runtime, function);
  runtime.registry.lowered(kernel, runtime.current());
  return kernel;
}

cudaError_t launch_function(const char* name, const void* function, const LaunchShape& shape, void** arguments,
                            cudaStream_t stream) {
  return call(name, [&](Runtime& runtime) {
    launch(runtime, kernel_of(runtime, function), shape, arguments, runtime.stream(stream));
    return cudaSuccess;
  });
}

std::size_t most_dynamic_shared(const Runtime& runtime, const Kernel& kernel) {
  const std::size_t all = static_cast<std::size_t>(runtime.gpu().max_shared_per_block);
  return all - std::min(all, kernel.static_shared);
}

}  // namespace

extern "C" {

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  const char* const name = comes_from_brackets() ? kBrackets : "cudaLaunchKernel";
  return launch_function(name, function, {grid, block, shared}, arguments, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  return launch_function("cudaLaunchCooperativeKernel", function, {grid, block, shared, true}, arguments, stream);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr) return launch_function("cudaLaunchKernelExC", nullptr, {}, arguments, nullptr);
  LaunchShape shape{config->gridDim, config->blockDim, config->dynamicSmemBytes};
  for (unsigned k = 0; k < config->numAttrs; ++k) {
    const cudaLaunchAttribute& attribute = config->attrs[k];
    if (attribute.id == cudaLaunchAttributeCooperative) shape.cooperative = attribute.val.cooperative != 0;
    const auto& cluster = attribute.val.clusterDim;
    if (attribute.id == cudaLaunchAttributeClusterDimension && cluster.x * cluster.y * cluster.z > 1) {
      return call("cudaLaunchKernelExC", [](Runtime&) -> cudaError_t {
        throw ApiError{cudaErrorNotSupported, "the virtual GPU runs no clusters of blocks"};
      });
    }
  }
  return launch_function("cudaLaunchKernelExC", function, shape, arguments, config->stream);
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call("cudaFuncGetAttributes", [&](Runtime& runtime) {
    const Kernel& kernel = ready_kernel(runtime, function);
    cudaFuncAttributes& told = required(attributes, "the place for the attributes");
    told = {};
    told.sharedSizeBytes = kernel.static_shared;
    told.localSizeBytes = static_cast<std::size_t>(kernel.resources.local_bytes);
    told.numRegs = kernel.resources.registers;
    told.maxThreadsPerBlock = kernel.max_threads != 0 ? kernel.max_threads : runtime.gpu().max_threads_per_block;
    told.ptxVersion = kernel.module->ptx_architecture();
    told.binaryVersion = kernel.module->cubin_architecture();
    told.maxDynamicSharedSizeBytes =
        static_cast<int>(std::max<std::size_t>(kernel.dynamic_shared_limit, (48 << 10) - kernel.static_shared));
    told.preferredShmemCarveout = kernel.carve_out;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", [&](Runtime& runtime) {
    Kernel& kernel = ready_kernel(runtime, function);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      const std::size_t most = most_dynamic_shared(runtime, kernel);
      if (value < 0 || static_cast<std::size_t>(value) > most) {
        throw ApiError{cudaErrorInvalidValue, std::to_string(value) + " bytes; " + kernel.told_name + " can have " +
                                                  std::to_string(most) + " on " + runtime.gpu().name};
      }
      kernel.dynamic_shared_limit = static_cast<std::size_t>(value);
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      if (value < -1 || value > 100) throw ApiError{cudaErrorInvalidValue, "a percentage, or -1, is wanted"};
      kernel.carve_out = value;
    } else {
      throw ApiError{cudaErrorNotSupported, "attribute " + std::to_string(attribute) + " is of clusters, which are not there"};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return call("cudaFuncSetCacheConfig", [&](Runtime& runtime) {
    kernel_of(runtime, function);
    return cudaSuccess;
  });
}

// Where an argument lies among the parameters, and how large it is.
cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return call("cudaFuncGetParamInfo", [&](Runtime& runtime) {
    const LoweredKernel& kernel = runtime.registry.lowered(kernel_of(runtime, function), runtime.current());
    const std::vector<Parameter>& all = kernel.parameters;
    if (index >= all.size()) {
      throw ApiError{cudaErrorInvalidValue, "the kernel has " + std::to_string(all.size()) + " parameters"};
    }
    required(offset, "the place for the offset") = all[index].offset;
    if (size != nullptr) *size = all[index].size;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call("cudaFuncGetName", [&](Runtime& runtime) {
    required(name, "the place for the name") = kernel_of(runtime, function).name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamic, unsigned) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Runtime& runtime) {
    const Kernel& kernel = ready_kernel(runtime, function);
    required(blocks, "the place for the number") =
        blocks_per_multiprocessor(runtime.gpu(), threads, kernel.resources.registers, kernel.static_shared + dynamic);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Runtime& runtime) {
    const Kernel& kernel = ready_kernel(runtime, function);
    if (blocks < 1) throw ApiError{cudaErrorInvalidValue, "at least one block is wanted"};
    const Gpu& gpu = runtime.gpu();
    const std::size_t unit = static_cast<std::size_t>(std::max(1, gpu.shared_allocation_unit));
    const std::size_t each = static_cast<std::size_t>(gpu.max_shared_per_sm / blocks) / unit * unit;
    const std::size_t taken = kernel.static_shared + static_cast<std::size_t>(gpu.reserved_shared_per_block);
    required(bytes, "the place for the number") = std::min(most_dynamic_shared(runtime, kernel), each - std::min(each, taken));
    return cudaSuccess;
  });
}

}  // extern "C"
