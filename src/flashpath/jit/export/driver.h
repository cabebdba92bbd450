// CUDA's driver, found when a library is first called: it needs neither CUDA's headers nor its runtime library.
// The kernels of a library are loaded here, for each GPU that it is called on.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "words.h"

namespace exported {

using CUcontext = void*;
using CUmodule = void*;
using CUfunction = void*;
using CUstream = void*;
using CUdeviceptr = unsigned long long;

struct Driver {
  int (*init)(unsigned);
  int (*error_name)(int, const char**);
  int (*error_string)(int, const char**);
  int (*device_count)(int*);
  int (*get_device)(int*, int);
  int (*device_attribute)(int*, int, int);
  int (*retain_context)(CUcontext*, int);
  int (*current_context)(CUcontext*);
  int (*push_context)(CUcontext);
  int (*pop_context)(CUcontext*);
  int (*load_module)(CUmodule*, const void*);
  int (*get_function)(CUfunction*, CUmodule, const char*);
  int (*set_function)(CUfunction, int, int);
  int (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                void**);
  int (*allocate)(CUdeviceptr*, std::size_t);
  int (*free)(CUdeviceptr);
  int (*to_device)(CUdeviceptr, const void*, std::size_t);
  int (*to_host)(void*, CUdeviceptr, std::size_t);

  void check(int status, const char* call) const {
    if (status == 0) return;
    const char* name = "";
    const char* text = "";
    error_name(status, &name);
    error_string(status, &text);
    throw Problem{"RuntimeError", filled(words::kCuda, {{"call", call}, {"error", name ? name : ""},
                                                         {"text", text ? text : ""}})};
  }

  static const Driver& get() {
    static const Driver driver = find();
    return driver;
  }

 private:
  // The virtual GPU's driver is asked first: it is found only where flashpath has put it into the process's way.
  static Driver find() {
    void* library = dlopen("libflashpath_cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* const why = dlerror();
      throw Problem{"RuntimeError", filled(words::kNoDriver, {{"problem", why ? why : ""}})};
    }
    Driver driver;
    const auto look_up = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      if (function == nullptr) throw Problem{"RuntimeError", filled(words::kNoDriver, {{"problem", name}})};
    };
    look_up(driver.init, "cuInit");
    look_up(driver.error_name, "cuGetErrorName");
    look_up(driver.error_string, "cuGetErrorString");
    look_up(driver.device_count, "cuDeviceGetCount");
    look_up(driver.get_device, "cuDeviceGet");
    look_up(driver.device_attribute, "cuDeviceGetAttribute");
    look_up(driver.retain_context, "cuDevicePrimaryCtxRetain");
    look_up(driver.current_context, "cuCtxGetCurrent");
    look_up(driver.push_context, "cuCtxPushCurrent_v2");
    look_up(driver.pop_context, "cuCtxPopCurrent_v2");
    look_up(driver.load_module, "cuModuleLoadData");
    look_up(driver.get_function, "cuModuleGetFunction");
    look_up(driver.set_function, "cuFuncSetAttribute");
    look_up(driver.launch, "cuLaunchKernel");
    look_up(driver.allocate, "cuMemAlloc_v2");
    look_up(driver.free, "cuMemFree_v2");
    look_up(driver.to_device, "cuMemcpyHtoD_v2");
    look_up(driver.to_host, "cuMemcpyDtoH_v2");
    driver.check(driver.init(0), "cuInit");
    return driver;
  }
};

// ---- GPUs ------------------------------------------------------------------------------------------------------

// A GPU in its primary context, the one that torch, CuPy and CUDA's runtime use. Kept until the process ends.
struct Gpu {
  CUcontext context = nullptr;
  int major = 0;
  int minor = 0;
  int sm_count = 0;
  int max_shared = 0;  // that a block can have

  static const Gpu& get(int index) {
    static std::mutex mutex;
    static std::vector<Gpu*> gpus;
    const std::scoped_lock lock(mutex);
    if (index >= 0 && static_cast<std::size_t>(index) < gpus.size() && gpus[static_cast<std::size_t>(index)]) {
      return *gpus[static_cast<std::size_t>(index)];
    }
    const Driver& driver = Driver::get();
    int count = 0, device = 0;
    driver.check(driver.device_count(&count), "cuDeviceGetCount");
    if (index < 0 || index >= count) {
      throw Problem{"RuntimeError",
                    filled(words::kNoGpu, {{"index", std::to_string(index)}, {"count", std::to_string(count)}})};
    }
    driver.check(driver.get_device(&device, index), "cuDeviceGet");
    Gpu gpu;
    const auto ask = [&](int attribute, int& value) {
      driver.check(driver.device_attribute(&value, attribute, device), "cuDeviceGetAttribute");
    };
    ask(75, gpu.major);  // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
    ask(76, gpu.minor);
    ask(16, gpu.sm_count);
    ask(97, gpu.max_shared);  // CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    driver.check(driver.retain_context(&gpu.context, device), "cuDevicePrimaryCtxRetain");
    gpus.resize(static_cast<std::size_t>(count));
    return *(gpus[static_cast<std::size_t>(index)] = new Gpu(gpu));
  }
};

// Makes a GPU's context current in this thread, and what was current before again at the end.
class OnGpu {
 public:
  explicit OnGpu(const Gpu& gpu) {
    const Driver& driver = Driver::get();
    CUcontext current = nullptr;
    driver.check(driver.current_context(&current), "cuCtxGetCurrent");
    if (current == gpu.context) return;
    driver.check(driver.push_context(gpu.context), "cuCtxPushCurrent");
    pushed_ = true;
  }
  ~OnGpu() {
    CUcontext popped = nullptr;
    if (pushed_) Driver::get().pop_context(&popped);
  }
  OnGpu(const OnGpu&) = delete;

 private:
  bool pushed_ = false;
};

// ---- Kernels ---------------------------------------------------------------------------------------------------

// One kernel's code for one architecture, as machine code and as PTX. Both end with a zero byte.
struct Image {
  int major;
  int minor;
  bool is_for_this_alone;  // sm_90a runs on no other architecture
  const char* cubin;
  const char* ptx;
};

class Kernel {
 public:
  Kernel(const char* name, const Image* images, int count) : name_(name), images_(images), count_(count) {}

  // The kernel on a GPU whose context is current, allowed to have so much shared memory.
  CUfunction on(int index, const Gpu& gpu, int shared) {
    const std::scoped_lock lock(mutex_);
    if (static_cast<std::size_t>(index) >= loaded_.size()) loaded_.resize(static_cast<std::size_t>(index) + 1);
    Loaded& place = loaded_[static_cast<std::size_t>(index)];
    if (place.function == nullptr) place.function = load(gpu);
    if (shared > place.shared) {
      const Driver& driver = Driver::get();
      driver.check(driver.set_function(place.function, 8, shared), "cuFuncSetAttribute");  // dynamic shared memory
      place.shared = shared;
    }
    return place.function;
  }

 private:
  struct Loaded {
    CUfunction function = nullptr;
    int shared = 0;  // that it was allowed to have; what is without asking depends on its static shared memory
  };

  CUfunction load(const Gpu& gpu) const {
    const Driver& driver = Driver::get();
    constexpr int kNoBinaryForGpu = 209, kInvalidPtx = 218, kUnsupportedPtx = 222;
    CUmodule module = nullptr;
    int status = kNoBinaryForGpu;
    if (const Image* const image = machine_code(gpu)) status = driver.load_module(&module, image->cubin);
    if (status == kNoBinaryForGpu) {
      if (const Image* const image = newest_ptx(gpu)) status = driver.load_module(&module, image->ptx);
    }
    if (status == kNoBinaryForGpu || status == kInvalidPtx || status == kUnsupportedPtx) {
      const std::string arch = "sm_" + std::to_string(gpu.major) + std::to_string(gpu.minor);
      throw Problem{"RuntimeError", filled(words::kNoCode, {{"arch", arch}})};
    }
    driver.check(status, "cuModuleLoadData");
    CUfunction function = nullptr;
    driver.check(driver.get_function(&function, module, name_), "cuModuleGetFunction");
    return function;
  }

  // Machine code runs on its own architecture and on later minor ones; the nearest is taken.
  const Image* machine_code(const Gpu& gpu) const {
    const Image* best = nullptr;
    for (const Image* each = images_; each != images_ + count_; ++each) {
      if (each->major != gpu.major || each->minor > gpu.minor) continue;
      if (each->is_for_this_alone && each->minor != gpu.minor) continue;
      if (best == nullptr || each->minor > best->minor || each->is_for_this_alone) best = each;
    }
    return best;
  }

  // PTX runs on its own architecture and on all later ones.
  const Image* newest_ptx(const Gpu& gpu) const {
    const auto number = [](const auto& each) { return each.major * 10 + each.minor; };
    const Image* best = nullptr;
    for (const Image* each = images_; each != images_ + count_; ++each) {
      if (number(*each) > number(gpu) || (each->is_for_this_alone && number(*each) != number(gpu))) continue;
      if (best == nullptr || number(*each) > number(*best)) best = each;
    }
    return best;
  }

  const char* name_;
  const Image* images_;
  int count_;
  std::mutex mutex_;
  std::vector<Loaded> loaded_;
};

}  // namespace exported
