// Launches, by the program's <<<>>> and by function, and what a kernel takes and may take.
#include <algorithm>
#include <utility>
#include <vector>

#include "api/call.h"
#include "device/occupancy.h"
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

// Whether the launch is one of <<<…>>>, which drops what the call below returns; asked once for each.
bool comes_from_brackets() { return std::exchange(has_popped, false); }

Kernel& kernel_of(Runtime& runtime, const void* function) {
  Kernel* const found = runtime.registry.kernel(function);
  if (found == nullptr) throw ApiError{cudaErrorInvalidDeviceFunction, "vgpu.program-without-kernel"};
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
    // What is launched may also be a handle of a kernel: a pointer to something else is taken for a wrong one.
    if (function != nullptr && runtime.registry.kernel(function) == nullptr) {
      throw ApiError{cudaErrorInvalidResourceHandle, "vgpu.program-without-kernel"};
    }
    launch(runtime, kernel_of(runtime, function), shape, arguments, runtime.stream(stream));
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

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

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments, size_t shared,
                               cudaStream_t stream) {
  comes_from_brackets();
  return call(kBrackets, [&](Runtime& runtime) {
    launch(runtime, *reinterpret_cast<Kernel*>(kernel), {grid, block, shared}, arguments, runtime.stream(stream));
    return cudaSuccess;
  });
}

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
    if (attribute.id == cudaLaunchAttributeClusterDimension) shape.cluster = dim3(cluster.x, cluster.y, cluster.z);
  }
  return launch_function("cudaLaunchKernelExC", function, shape, arguments, config->stream);
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

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return call("cudaFuncGetAttributes", [&](Runtime& runtime) {
    const Kernel& kernel = ready_kernel(runtime, function);
    cudaFuncAttributes& told = required(attributes, "attr");
    told = {};
    told.sharedSizeBytes = kernel.static_shared;
    told.localSizeBytes = static_cast<std::size_t>(kernel.resources.local_bytes);
    told.numRegs = kernel.resources.registers;
    const int fit = most_threads(runtime.gpu(), kernel.resources.registers);
    told.maxThreadsPerBlock = kernel.max_threads != 0 ? std::min(kernel.max_threads, fit) : fit;
    told.ptxVersion = kernel.module->ptx_architecture();
    told.binaryVersion = kernel.module->cubin_architecture();
    told.maxDynamicSharedSizeBytes = static_cast<int>(dynamic_shared_of(kernel));
    told.preferredShmemCarveout = kernel.carve_out;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return call("cudaFuncSetAttribute", [&](Runtime& runtime) {
    Kernel& kernel = ready_kernel(runtime, function);
    if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
      const std::size_t most = most_dynamic_shared(runtime.gpu(), kernel);
      if (value < 0 || static_cast<std::size_t>(value) > most) {
        throw ApiError{cudaErrorInvalidValue, {"vgpu.dynamic-shared-too-large", {{"bytes", value},
                                                                                       {"kernel", kernel.told_name},
                                                                                       {"most", most},
                                                                                       {"gpu", runtime.gpu().name}}}};
      }
      kernel.dynamic_shared_limit = static_cast<std::size_t>(value);
    } else if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) {
      if (value < -1 || value > 100) throw ApiError{cudaErrorInvalidValue, "vgpu.not-a-percentage"};
      kernel.carve_out = value;
    } else if (attribute == cudaFuncAttributeNonPortableClusterSizeAllowed) {
      kernel.takes_any_cluster = value != 0;
    } else if (attribute == cudaFuncAttributeClusterSchedulingPolicyPreference) {
      if (value < 0 || value > 2) throw ApiError{cudaErrorInvalidValue, {"vgpu.no-such-attribute", {{"number", value}}}};
    } else {
      throw ApiError{cudaErrorInvalidValue, {"vgpu.no-such-attribute", {{"number", static_cast<int>(attribute)}}}};
    }
    return cudaSuccess;
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache config) {
  return call("cudaFuncSetCacheConfig", [&](Runtime& runtime) {
    kernel_of(runtime, function).cache = config;
    return cudaSuccess;
  });
}

// Where an argument lies among the parameters, and how large it is.
cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
  return call("cudaFuncGetParamInfo", [&](Runtime& runtime) {
    const LoweredKernel& kernel = runtime.registry.lowered(kernel_of(runtime, function), runtime.current());
    const std::vector<Parameter>& all = kernel.parameters;
    if (index >= all.size()) {
      throw ApiError{cudaErrorInvalidValue, {"vgpu.parameters-of-kernel", {{"count", all.size()}}}};
    }
    required(offset, "paramOffset") = all[index].offset;
    if (size != nullptr) *size = all[index].size;
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return call("cudaFuncGetName", [&](Runtime& runtime) {
    required(name, "name") = kernel_of(runtime, function).name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int threads,
                                                                   size_t dynamic, unsigned) {
  return call("cudaOccupancyMaxActiveBlocksPerMultiprocessor", [&](Runtime& runtime) {
    const Kernel& kernel = ready_kernel(runtime, function);
    if (threads < 1) throw ApiError{cudaErrorInvalidValue, "vgpu.no-threads"};
    const bool is_allowed = dynamic <= dynamic_shared_of(kernel);
    required(blocks, "numBlocks") =
        is_allowed ? resident_blocks(runtime, runtime.current(), kernel, threads, dynamic) : 0;
    return cudaSuccess;
  });
}

// A cluster stands in one group of multiprocessors; how many these are is not described, and all of them are taken for one.
cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void* function, const cudaLaunchConfig_t* config) {
  return call("cudaOccupancyMaxActiveClusters", [&](Runtime& runtime) {
    const Kernel& kernel = ready_kernel(runtime, function);
    const cudaLaunchConfig_t& asked = required(config, "config");
    const flashpath::Program& kernels = runtime.registry.lowered(kernel_of(runtime, function), runtime.current()).program;
    unsigned size = std::max(1u, kernels.cluster[0] * kernels.cluster[1] * kernels.cluster[2]);
    for (unsigned k = 0; k < asked.numAttrs; ++k) {
      const auto& extent = asked.attrs[k].val.clusterDim;
      if (asked.attrs[k].id == cudaLaunchAttributeClusterDimension) size = std::max(1u, extent.x * extent.y * extent.z);
    }
    const int threads = static_cast<int>(asked.blockDim.x * asked.blockDim.y * asked.blockDim.z);
    if (threads < 1) throw ApiError{cudaErrorInvalidValue, "vgpu.no-threads"};
    const bool is_allowed = asked.dynamicSmemBytes <= dynamic_shared_of(kernel) && runtime.gpu().major >= 9;
    const int each = is_allowed ? resident_blocks(runtime, runtime.current(), kernel, threads, asked.dynamicSmemBytes) : 0;
    required(clusters, "numClusters") = each * runtime.gpu().multiprocessors / static_cast<int>(size);
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* function, const cudaLaunchConfig_t*) {
  return call("cudaOccupancyMaxPotentialClusterSize", [&](Runtime& runtime) {
    if (runtime.gpu().major < 9) throw ApiError{cudaErrorNotSupported, {"vgpu.program-no-clusters", {{"gpu", runtime.gpu().name}}}};
    required(size, "clusterSize") = kernel_of(runtime, function).takes_any_cluster ? 16 : 8;
    return cudaSuccess;
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int threads,
                                                          size_t dynamic) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, dynamic, 0);
}

// As the driver computes it: what the system takes of each block is not counted, so that with as much as is told here
// fewer blocks may fit than were asked for. A block that is alone gets what it may have, whatever is preferred.
cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, const void* function, int blocks, int threads) {
  return call("cudaOccupancyAvailableDynamicSMemPerBlock", [&](Runtime& runtime) {
    const Kernel& kernel = ready_kernel(runtime, function);
    const int fit = resident_blocks(runtime, runtime.current(), kernel, threads, 0);
    if (blocks < 1 || blocks > fit) {
      throw ApiError{cudaErrorInvalidValue, {"vgpu.blocks-that-fit", {{"count", fit}}}};
    }
    std::size_t room = dynamic_shared_of(kernel);
    if (blocks > 1) {
      const std::size_t unit = static_cast<std::size_t>(runtime.gpu().shared_allocation_unit);
      const std::size_t all = shared_of_multiprocessor(runtime, runtime.current(), kernel);
      const std::size_t each = all / static_cast<std::size_t>(blocks) / unit * unit;
      room = std::min(room, each - std::min(each, kernel.static_shared));
    }
    required(bytes, "dynamicSmemSize") = room;
    return cudaSuccess;
  });
}

}  // extern "C"
