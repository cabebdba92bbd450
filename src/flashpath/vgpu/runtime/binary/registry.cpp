#include "binary/registry.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lower/builder.h"
#include "messages/failure.h"
#include "messages/kernel_name.h"
#include "ptx/parser.h"

namespace flashpath::runtime {
namespace {

constexpr std::uint64_t kBetweenModules = 4096;
// __managed__ variables of modules, seen there by the host and by all devices: between the zones of device/memory.cpp.
// No module has more than 1 GiB of them.
constexpr std::uint64_t kManagedZone = 0x2b0000000000ull;
constexpr std::uint64_t kManagedZonePerModule = 1ull << 31;

// All modules of all devices have variables at addresses of their own.
VariableBases next_bases(const lower::LoadedModule* last) {
  if (last == nullptr) return {};
  const ModuleMemory& memory = *last->memory;
  const auto behind = [](std::uint64_t base, std::size_t size) {
    return (base + size + kBetweenModules) / kBetweenModules * kBetweenModules;
  };
  return {behind(memory.bases.globals, memory.globals.size()), behind(memory.bases.constants, memory.constants.size())};
}

const lower::LoadedModule*& last_loaded() {
  static const lower::LoadedModule* last = nullptr;
  return last;
}

}  // namespace

std::optional<std::uint64_t> ModuleOnDevice::address_of(const std::string& name) const {
  const std::vector<ptx::Variable>& variables = loaded.module.variables;
  const auto found =
      std::find_if(variables.begin(), variables.end(), [&](const ptx::Variable& each) { return each.name == name; });
  if (found == variables.end()) return std::nullopt;
  return loaded.variable_address[static_cast<std::size_t>(found - variables.begin())];
}

void Module::find_images() {
  if (std::exchange(found_, true)) return;
  for (const Image& image : images_of(wrapper_)) {
    if (!image.is_ptx && !image.is_linked) {
      cubin_architecture_ = image.architecture;
      for (const auto& [name, resources] : runtime::resources_of(image.bytes)) resources_.emplace(name, resources);
    }
    if (!image.is_ptx || image.architecture < ptx_architecture_) continue;
    if (image.architecture > ptx_architecture_) ptx_.clear();  // of several the newest runs
    ptx_architecture_ = image.architecture;
    ptx_.push_back(image.bytes);
  }
}

const Resources* Module::resources_of(const std::string& kernel) {
  find_images();
  const auto found = resources_.find(kernel);
  return found == resources_.end() ? nullptr : &found->second;
}

ModuleOnDevice& Module::on(int device, const LoadObserver& loaded) {
  std::unique_ptr<ModuleOnDevice>& place = on_device_[device];
  if (place == nullptr) {
    find_images();
    if (ptx_.empty()) throw Failure(Message("vgpu.device-code-without-ptx"));
    VariableBases bases = next_bases(last_loaded());
    bases.managed = managed_base_;
    place = std::make_unique<ModuleOnDevice>(ModuleOnDevice{lower::load(ptx::parse_linked(ptx_), bases), {}, {}});
    for (const ptx::File& file : place->loaded.module.files) {
      if (std::optional<std::string> name = library_name(std::string(file.path))) {
        place->libraries.emplace(file.index, *std::move(name));
      }
    }
    last_loaded() = &place->loaded;
    if (loaded) loaded(*place, device);
  }
  return *place;
}

Module* Registry::add_module(const void* wrapper) {
  const std::uint64_t managed_base = kManagedZone + modules_.size() * kManagedZonePerModule;
  return modules_.emplace_back(std::make_unique<Module>(wrapper, managed_base)).get();
}

void Registry::add_kernel(Module* module, const void* host, const char* name) {
  Kernel kernel;
  kernel.module = module;
  kernel.name = name;
  kernel.told_name = kernel_name(name);
  kernels_.insert_or_assign(host, std::move(kernel));
}

void Registry::add_variable(const void* host, const Variable& variable) { variables_.insert_or_assign(host, variable); }

Kernel* Registry::kernel(const void* host) {
  const auto found = kernels_.find(host);
  return found == kernels_.end() ? nullptr : &found->second;
}

const Kernel* Registry::kernel_of(const Program& program) const {
  for (const auto& [host, kernel] : kernels_) {
    for (const auto& [device, lowered] : kernel.by_device) {
      if (&lowered->program == &program) return &kernel;
    }
  }
  return nullptr;
}

Variable* Registry::variable(const void* host) {
  const auto found = variables_.find(host);
  return found == variables_.end() ? nullptr : &found->second;
}

LoweredKernel& Registry::lowered(Kernel& kernel, int device) {
  std::unique_ptr<LoweredKernel>& place = kernel.by_device[device];
  if (place != nullptr) return *place;
  const ModuleOnDevice& on_device = on(*kernel.module, device);
  const lower::LoadedModule& module = on_device.loaded;
  std::vector<u32> libraries;
  for (const auto& [number, name] : on_device.libraries) libraries.push_back(number);
  auto made = std::make_unique<LoweredKernel>(LoweredKernel{lower::lower(module, kernel.name, libraries), {}});
  const std::vector<ptx::Function>& functions = module.module.functions;
  const auto is_it = [&](const ptx::Function& each) { return each.name == kernel.name; };
  const auto entry = std::find_if(functions.begin(), functions.end(), is_it);
  std::size_t end = 0;
  for (const ptx::Parameter& each : entry->parameters) {
    const std::size_t size = lower::size_of(each.variable);
    const std::size_t alignment = std::max<std::size_t>(1, lower::alignment_of(each.variable));
    end = (end + alignment - 1) / alignment * alignment;
    made->parameters.push_back({end, size});
    end += size;
  }
  if (const Resources* known = kernel.module->resources_of(kernel.name)) kernel.resources = *known;
  kernel.static_shared = made->program.shared_bytes - made->program.reserved_shared_bytes;
  kernel.max_threads = static_cast<int>(made->program.max_threads);
  place = std::move(made);
  return *place;
}

}  // namespace flashpath::runtime
