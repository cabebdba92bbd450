// The device code of the program: its modules, one for each source file, or one for all that are linked; their
// kernels and variables, which the program names by addresses of its own.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "binary/cubin.h"
#include "binary/fat_binary.h"
#include "binary/libraries.h"
#include "lower/lower.h"
#include "machine/launch.h"
#include "observe/findings.h"

namespace flashpath::runtime {

class Module;
struct ModuleOnDevice;

using LoadObserver = std::function<void(ModuleOnDevice&, int device)>;

struct Parameter {
  std::size_t offset = 0;
  std::size_t size = 0;
};

// A kernel on one device, ready to run.
struct LoweredKernel {
  Program program;
  std::vector<Parameter> parameters;
};

struct Kernel {
  Module* module = nullptr;
  std::string name;       // as the PTX has it
  std::string told_name;  // as people write it
  Resources resources;
  std::size_t static_shared = 0;
  std::size_t dynamic_shared_limit = 0;  // cudaFuncAttributeMaxDynamicSharedMemorySize
  int carve_out = -1;
  bool takes_any_cluster = false;  // of more than eight blocks, too
  cudaFuncCache cache = cudaFuncCachePreferNone;
  int max_threads = 0;
  std::map<int, std::unique_ptr<LoweredKernel>> by_device;
  bool is_brief = false;  // its last launch was over so soon that more threads of the host only cost
};

struct Variable {
  Module* module = nullptr;
  std::string name;
  std::size_t size = 0;
  bool is_managed = false;
  void** host_pointer = nullptr;  // of a managed one: what the program reads its address from
};

// One compilation on one device: its variables there.
struct ModuleOnDevice {
  lower::LoadedModule loaded;
  // What its kernels have got from malloc and not freed, by address; where programs are sanitised.
  std::map<u64, observe::OpenAllocation> open_allocations;
  std::map<u32, std::string> libraries;  // of its source files, those that are not the user's, by number

  // Of a variable; nullopt where the PTX has none of that name.
  std::optional<std::uint64_t> address_of(const std::string& name) const;
};

class Module {
 public:
  // `managed_base`: where its __managed__ variables stand, on all devices.
  Module(const void* wrapper, std::uint64_t managed_base) : wrapper_(wrapper), managed_base_(managed_base) {}

  // Parses, when first asked; throws what the engine's parser and lowering throw. `loaded` is told of it then.
  ModuleOnDevice& on(int device, const LoadObserver& loaded);
  const std::map<int, std::unique_ptr<ModuleOnDevice>>& devices() const { return on_device_; }
  const Resources* resources_of(const std::string& kernel);
  int ptx_architecture() { return find_images(), ptx_architecture_; }
  int cubin_architecture() { return find_images(), cubin_architecture_; }

 private:
  void find_images();

  const void* wrapper_;
  std::uint64_t managed_base_;
  bool found_ = false;
  std::vector<std::string_view> ptx_;  // of one source file, or of all that are linked
  int ptx_architecture_ = 0;
  int cubin_architecture_ = 0;
  std::map<std::string, Resources, std::less<>> resources_;
  std::map<int, std::unique_ptr<ModuleOnDevice>> on_device_;
};

class Registry {
 public:
  Module* add_module(const void* wrapper);
  void add_kernel(Module* module, const void* host, const char* name);
  void add_variable(const void* host, const Variable& variable);

  Kernel* kernel(const void* host);  // nullptr: it is none
  const Kernel* kernel_of(const Program& program) const;  // which is one that `lowered` has given
  Variable* variable(const void* host);
  const std::map<const void*, Variable>& variables() const { return variables_; }
  const std::vector<std::unique_ptr<Module>>& modules() const { return modules_; }
  ModuleOnDevice& on(Module& module, int device) { return module.on(device, loaded); }
  // The kernel on that device, ready to run; throws what the lowering throws.
  LoweredKernel& lowered(Kernel& kernel, int device);

  LoadObserver loaded;  // told when a module comes to a device

 private:
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<const void*, Kernel> kernels_;
  std::map<const void*, Variable> variables_;
};

}  // namespace flashpath::runtime
