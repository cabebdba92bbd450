#include "operations/launch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "device/occupancy.h"
#include "exec/schedule/launch.h"
#include "ground/signals.h"
#include "ground/sizes.h"
#include "machine/fault.h"
#include "observe/footprint.h"
#include "work/model.h"

namespace flashpath::runtime {
namespace {

constexpr std::uint64_t kSectorBytes = 32;
constexpr unsigned kMostBlocksOfPortableCluster = 8;
// Waking other threads of the host, and waiting for them, takes about a millisecond where these are busy.
constexpr std::chrono::microseconds kBriefTogether(2000);
constexpr std::chrono::microseconds kBriefAlone(1000);

int threads_of(const LaunchShape& shape) { return static_cast<int>(shape.block.x * shape.block.y * shape.block.z); }

std::string told(const dim3& extent) {
  return "(" + std::to_string(extent.x) + ", " + std::to_string(extent.y) + ", " + std::to_string(extent.z) + ")";
}

std::string capability(int major, int minor) { return std::to_string(major) + "." + std::to_string(minor); }

// As many blocks as the whole device holds at once.
std::uint64_t resident_on_device(Runtime& runtime, int device, const Kernel& kernel, const LaunchShape& shape) {
  const int each = resident_blocks(runtime, device, kernel, threads_of(shape), shape.dynamic_shared);
  return static_cast<std::uint64_t>(each) * static_cast<std::uint64_t>(runtime.gpu().multiprocessors);
}

// The extent of clusters that a launch has; zeros where it has none.
dim3 cluster_of(const Program& program, const LaunchShape& shape) {
  if (shape.cluster.x != 0) return shape.cluster;
  return {program.cluster[0], program.cluster[1], program.cluster[2]};
}

// Gives what is wrong with the clusters of a launch: an empty message where nothing is.
Message wrong_cluster(const Gpu& gpu, const Kernel& kernel, const Program& program, const LaunchShape& shape) {
  const dim3 cluster = cluster_of(program, shape);
  if (cluster.x == 0) return {};
  if (gpu.major < 9) return {"vgpu.program-no-clusters", {{"gpu", gpu.name}}};
  const dim3 own(program.cluster[0], program.cluster[1], program.cluster[2]);
  if (own.x != 0 && (own.x != cluster.x || own.y != cluster.y || own.z != cluster.z)) {
    return {"vgpu.program-cluster-of-kernel", {{"own", told(own)}, {"given", told(cluster)}}};
  }
  const unsigned most = kernel.takes_any_cluster ? kMostBlocksOfCluster : kMostBlocksOfPortableCluster;
  if (cluster.x * cluster.y * cluster.z > most) {
    return {"vgpu.program-cluster-too-large", {{"cluster", told(cluster)}, {"most", most}}};
  }
  const dim3& grid = shape.grid;
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    return {"vgpu.program-no-multiple-of-cluster", {{"cluster", told(cluster)}}};
  }
  return {};
}

void check(Runtime& runtime, int device, const Kernel& kernel, const Program& program, const LaunchShape& shape) {
  const Gpu& gpu = runtime.gpu();
  const auto& [grid, block, dynamic, cooperative, cluster] = shape;
  const auto refuse = [&](cudaError_t code, const Message& why) {
    throw ApiError{code,
                   {"vgpu.launch-refused",
                    {{"kernel", kernel.told_name}, {"grid", told(grid)}, {"block", told(block)}, {"why", why}}}};
  };
  if (const int needed = kernel.module->ptx_architecture(); needed > 10 * gpu.major + gpu.minor) {
    refuse(cudaErrorNoKernelImageForDevice,
           {"vgpu.compiled-for-newer", {{"needed", capability(needed / 10, needed % 10)},
                                        {"gpu", gpu.name},
                                        {"has", capability(gpu.major, gpu.minor)}}});
  }
  if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x == 0 || block.y == 0 || block.z == 0) {
    refuse(cudaErrorInvalidValue, "vgpu.extent-is-zero");
  }
  const auto exceeds = [](const dim3& extent, const std::array<unsigned, 3>& most) {
    return extent.x > most[0] || extent.y > most[1] || extent.z > most[2];
  };
  if (exceeds(grid, gpu.max_grid)) {
    refuse(cudaErrorInvalidValue, "vgpu.grid-too-large");
  }
  const unsigned most = static_cast<unsigned>(gpu.max_threads_per_block);
  if (exceeds(block, gpu.max_block) || std::uint64_t(block.x) * block.y * block.z > most) {
    refuse(cudaErrorInvalidValue, {"vgpu.block-too-large", {{"most", most}}});
  }
  if (dynamic > std::min(dynamic_shared_of(kernel), most_dynamic_shared(gpu, kernel))) {
    refuse(cudaErrorInvalidValue,
           {"vgpu.shared-too-large", {{"bytes", sum(kernel.static_shared, dynamic)},
                                      {"usual", kSharedWithoutOptIn},
                                      {"most", gpu.max_shared_per_block}}});
  }
  const int threads = threads_of(shape);
  if (kernel.max_threads != 0 && threads > kernel.max_threads) {
    refuse(cudaErrorInvalidValue,
           {"vgpu.above-launch-bounds", {{"most", kernel.max_threads}}});
  }
  if (threads > most_threads(gpu, kernel.resources.registers)) {
    refuse(cudaErrorLaunchOutOfResources,
           {"vgpu.registers-too-many", {{"registers", kernel.resources.registers}, {"threads", threads}}});
  }
  if (const Message why = wrong_cluster(gpu, kernel, program, shape); !why.empty()) {
    refuse(cudaErrorInvalidClusterSize, why);
  }
  if (!cooperative) return;
  const std::uint64_t blocks = std::uint64_t(grid.x) * grid.y * grid.z;
  if (const std::uint64_t fit = resident_on_device(runtime, device, kernel, shape); blocks > fit) {
    refuse(cudaErrorCooperativeLaunchTooLarge,
           {"vgpu.cooperative-too-large", {{"count", fit}}});
  }
}

// As an H200 told them.
cudaError_t code_of(const Program& program, const machine::Fault& fault) {
  const std::string& kind = fault.kind;
  if (kind == "misaligned") return cudaErrorMisalignedAddress;
  if (kind == "assert") return cudaErrorAssert;
  if (kind == "deadlock" || kind == "timeout") return cudaErrorLaunchTimeout;
  // The heap of malloc and free is looked after by code of the device, which ends itself by a trap.
  const bool is_of_heap = program.origins[fault.instruction].operation == "call.free";
  if ((kind == "out-of-bounds" && !is_of_heap) || kind == "use-after-free" || kind == "const-write") {
    return fault.is_beyond_window ? cudaErrorIllegalInstruction : cudaErrorIllegalAddress;
  }
  return cudaErrorLaunchFailure;
}

Message place_of(const Program& program, const machine::Fault& fault) {
  const Origin& origin = program.origins[fault.instruction];
  const auto triple = [](const u32* at) { return told(dim3(at[0], at[1], at[2])); };
  const Message thread("vgpu.thread-of-block", {{"block", triple(fault.block)}, {"thread", triple(fault.thread)}});
  if (origin.line == 0 || origin.file >= program.files.size()) return thread;
  return {"vgpu.at-source",
          {{"source", program.files[origin.file] + ":" + std::to_string(origin.line)}, {"thread", thread}}};
}

// Whether the host itself finds something there.
bool is_of_host(std::uint64_t address) {
  const std::uint64_t page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  void* const begin = reinterpret_cast<void*>(address / page * page);
  return !Memory::is_device_address(begin) && msync(begin, 1, MS_ASYNC) == 0;
}

// What a kernel on that device finds at an address that it must not touch.
machine::KnownAddress what_is_at(const Runtime& runtime, int device, std::uint64_t address) {
  const void* const pointer = reinterpret_cast<const void*>(address);
  const Allocation* const found = runtime.memory.find(pointer);
  if (found != nullptr && found->kind == MemoryKind::kDevice && found->device != device) {
    return {{"vgpu.memory-of-other-device", {{"device", found->device}}}};
  }
  if (found != nullptr) return {};
  if (runtime.memory.was_freed(pointer)) return {"vgpu.freed-before", "use-after-free"};
  if (is_of_host(address)) {
    return {"vgpu.memory-of-host"};
  }
  return {};
}

// The context dies with the kernel, as on hardware.
void die(Device& device, const Kernel& kernel, const Program& program, const machine::Fault& fault) {
  device.dead = code_of(program, fault);
  std::fflush(stdout);
  tell({"vgpu.kernel-died",
                                {{"kernel", kernel.told_name},
                                 {"kind", fault.kind},
                                 {"what", fault.message},
                                 {"place", place_of(program, fault)}}});
}

void copy(const dim3& from, u32* to) {
  to[0] = from.x;
  to[1] = from.y;
  to[2] = from.z;
}

void map_other_modules(Runtime& runtime, const Program& program, int device, machine::Launch& launch) {
  for (const std::unique_ptr<Module>& module : runtime.registry.modules()) {
    const auto loaded = module->devices().find(device);
    if (loaded == module->devices().end() || loaded->second->loaded.memory == program.memory) continue;
    ModuleMemory& memory = *loaded->second->loaded.memory;
    const auto map = [&](u64 base, std::vector<std::byte>& bytes, bool writable) {
      if (!bytes.empty()) launch.segments.push_back({base, bytes.size(), bytes.data(), writable});
    };
    map(memory.bases.globals, memory.globals, true);
    map(memory.bases.constants, memory.constants, false);
  }
}

void run(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, const std::vector<std::byte>& parameters,
         Operation& operation) {
  Device& device = runtime.device(operation.device);
  if (device.dead != cudaSuccess) return;
  const Program& program = runtime.registry.lowered(kernel, operation.device).program;
  machine::Launch launch;
  launch.program = &program;
  copy(shape.grid, launch.grid);
  copy(shape.block, launch.block);
  const dim3 cluster = cluster_of(program, shape);
  copy(cluster.x == 0 ? dim3(1, 1, 1) : cluster, launch.cluster);
  launch.explicit_cluster = program.explicit_cluster || shape.cluster.x != 0;
  launch.dynamic_shared = static_cast<u32>(shape.dynamic_shared);
  launch.parameters = parameters;
  launch.cooperative = shape.cooperative;
  if (const auto heap = device.limits.find(cudaLimitMallocHeapSize); heap != device.limits.end()) {
    program.memory->heap.grow(heap->second);
  }
  exec::map_module(launch);
  map_other_modules(runtime, program, operation.device, launch);
  // Last, as they stand above the others: all are in order then, where there is one module.
  const std::vector<machine::Segment>& allocated = runtime.segments(operation.device);
  launch.segments.insert(launch.segments.end(), allocated.begin(), allocated.end());
  Initialised* const initialised = runtime.memory.initialised();
  if (initialised != nullptr && !initialised->is_everything()) {
    for (machine::Segment& each : launch.segments) each.initialised = initialised->of(each.base);
  }
  launch.numerics = {runtime.settings.exact,
                     machine::generation_of(static_cast<u32>(runtime.gpu().major), static_cast<u32>(runtime.gpu().minor))};
  launch.budget = runtime.settings.budget;
  launch.seed = runtime.settings.seed;
  launch.multiprocessors = static_cast<u32>(runtime.gpu().multiprocessors);
  launch.resident_blocks = resident_on_device(runtime, operation.device, kernel, shape);
  const bool in_order = program.order_matters || shape.cooperative || runtime.settings.seed != 0;
  launch.threads = in_order || kernel.is_brief ? 1 : std::max(1u, std::thread::hardware_concurrency());
  launch.print = [&runtime](std::string_view text) {
    if (!runtime.is_ending) std::fwrite(text.data(), 1, text.size(), stdout);
  };
  launch.tell_about = [&runtime, number = operation.device](u64 address) {
    return what_is_at(runtime, number, address);
  };
  if (runtime.works_beside_host) {  // until it makes a call, and waits itself
    launch.others_may_write = [&runtime, seen = runtime.calls.load()] { return runtime.calls == seen; };
  }
  const EndsWhenAsked ends_when_asked(launch);
  observe::Findings findings;
  observe::AccessedBytes accessed;
  if (runtime.settings.sanitize) {
    launch.findings = &findings;
    launch.accessed = &accessed;
    launch.open_allocations = &kernel.module->on(operation.device, runtime.registry.loaded).open_allocations;
  }
  observe::Counters counters;
  const bool counts = runtime.times_matter();
  exec::prepare_counting(launch, counts ? &counters : nullptr);
  std::optional<machine::Fault> ended;
  const auto start = std::chrono::steady_clock::now();
  try {
    exec::run(launch);
  } catch (const machine::Fault& fault) {
    ended = fault;
  }
  kernel.is_brief = std::chrono::steady_clock::now() - start < (launch.threads > 1 ? kBriefTogether : kBriefAlone);
  runtime.record.findings(kernel, program, findings, operation.site);
  if (ended) runtime.record.fault(kernel, launch, *ended, operation.site);
  // A launch that is sanitised goes on after what would have ended it; its context dies of that all the same.
  if (findings.fault()) ended = findings.fault();
  if (ended) die(device, kernel, program, *ended);
  if (initialised != nullptr) {
    initialised->write(accessed.written);
    initialised->write(accessed.strong);
  }
  if (operation.accesses != nullptr) {
    operation.accesses->read = std::move(accessed.read);
    operation.accesses->written = std::move(accessed.written);
    operation.accesses->strong = std::move(accessed.strong);
    operation.accesses->strong_read = std::move(accessed.strong_read);
  }
  if (!counts) return;
  operation.bytes = kSectorBytes * observe::footprint_of(launch, counters).memory_sectors();
  operation.seconds = seconds_of_kernel(runtime.gpu(), launch, counters);
  if (runtime.settings.profile) {
    runtime.record.launch(kernel, launch, counters, operation.seconds, operation.device, operation.stream);
  }
  const double blocks = static_cast<double>(std::uint64_t(shape.grid.x) * shape.grid.y * shape.grid.z);
  operation.share = std::min(1.0, blocks / static_cast<double>(std::max<std::uint64_t>(1, launch.resident_blocks)));
}

// Memory of the host to which an argument points, or whose name every kernel knows.
std::vector<observe::Range> reachable_host_memory(const Runtime& runtime, const std::vector<std::byte>& parameters) {
  std::set<const Allocation*> found;
  for (std::size_t at = 0; at + sizeof(void*) <= parameters.size(); at += sizeof(void*)) {
    const void* pointer = nullptr;
    std::memcpy(&pointer, parameters.data() + at, sizeof pointer);
    found.insert(runtime.memory.find(pointer));
  }
  for (const auto& [address, each] : runtime.memory.all()) {
    if (each.of_program) found.insert(&each);
  }
  std::vector<observe::Range> reachable;
  for (const Allocation* each : found) {
    if (each == nullptr || each->kind == MemoryKind::kDevice) continue;
    reachable.push_back({each->address, each->address + each->size});
  }
  return reachable;
}

}  // namespace

std::size_t dynamic_shared_of(const Kernel& kernel) {
  return std::max(kernel.dynamic_shared_limit,
                  kSharedWithoutOptIn - std::min(kSharedWithoutOptIn, kernel.static_shared));
}

std::size_t most_dynamic_shared(const Gpu& gpu, const Kernel& kernel) {
  const std::size_t all = static_cast<std::size_t>(gpu.max_shared_per_block);
  return all - std::min(all, kernel.static_shared);
}

std::size_t shared_of_multiprocessor(Runtime& runtime, int device, const Kernel& kernel) {
  const bool says_itself = kernel.cache != cudaFuncCachePreferNone;
  return preferred_shared(runtime.gpu(), kernel.carve_out, says_itself ? kernel.cache : runtime.device(device).cache);
}

int resident_blocks(Runtime& runtime, int device, const Kernel& kernel, int threads, std::size_t dynamic_shared) {
  return blocks_per_multiprocessor(runtime.gpu(), threads, kernel.resources.registers,
                                   kernel.static_shared + dynamic_shared,
                                   shared_of_multiprocessor(runtime, device, kernel));
}

void launch(Runtime& runtime, Kernel& kernel, const LaunchShape& shape, void** arguments, Stream& stream) {
  const LoweredKernel& ready = runtime.registry.lowered(kernel, stream.device);
  check(runtime, stream.device, kernel, ready.program, shape);
  std::vector<std::byte> parameters(ready.program.parameter_bytes);
  for (std::size_t k = 0; k < ready.parameters.size(); ++k) {
    const auto [offset, size] = ready.parameters[k];
    std::memcpy(parameters.data() + offset, arguments[k], size);
  }
  Operation operation;
  operation.name = kernel.told_name;
  operation.kind = "kernel";
  operation.unit = Unit::kMultiprocessors;
  if (runtime.checks != nullptr) {
    operation.accesses = std::make_shared<Accesses>();
    operation.accesses->reachable = reachable_host_memory(runtime, parameters);
  }
  operation.work = [&runtime, &kernel, shape, parameters = std::move(parameters)](Operation& self) {
    run(runtime, kernel, shape, parameters, self);
  };
  runtime.submit(stream, std::move(operation));
}

}  // namespace flashpath::runtime
