#include "runtime.h"

#include <algorithm>
#include <cstdio>
#include <new>

#include "work/timeline.h"

namespace flashpath::runtime {
namespace {

thread_local int current_device = 0;
thread_local cudaError_t error_of_thread = cudaSuccess;

bool minds_default(const Stream& stream) { return (stream.flags & cudaStreamNonBlocking) == 0; }

}  // namespace

cudaError_t& last_error() { return error_of_thread; }

Runtime& Runtime::get() {
  // Never destroyed: destructors of the program's own globals may still call.
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() : settings(Settings::from_environment()), queue(settings.devices) {
  for (int k = 0; k < settings.devices; ++k) {
    devices_.push_back(std::make_unique<Device>());
    devices_.back()->default_stream.device = k;
  }
  registry.loaded = [this](ModuleOnDevice& module, int number) { adopt_variables(module, number); };
  if (!settings.quiet) {
    std::fprintf(stderr, "flashpath: virtual %s; times are bounds of a model of that GPU, not measurements\n",
                 settings.gpu.name.c_str());
  }
  if (!settings.timeline.empty()) {
    times_matter_ = true;
    queue.keep_history();
    std::atexit([] { write_timeline(Runtime::get().settings.timeline, Runtime::get().queue.history(), Runtime::get().gpu()); });
  }
}

// Pointers to variables are as good as others: for copies, and in other modules' kernels.
void Runtime::adopt_variables(ModuleOnDevice& module, int number) {
  ModuleMemory& variables = *module.loaded.memory;
  const auto adopt = [&](std::uint64_t base, std::vector<std::byte>& bytes) {
    Allocation all;
    all.address = base;
    all.size = bytes.size();
    all.bytes = bytes.data();
    all.device = number;
    all.of_program = true;
    if (!bytes.empty()) memory.adopt(all);
  };
  adopt(variables.bases.globals, variables.globals);
  adopt(variables.bases.constants, variables.constants);
}

int Runtime::current() const { return current_device; }

void Runtime::set_current(int device) {
  if (device < 0 || device >= settings.devices) {
    throw ApiError{cudaErrorInvalidDevice, "there are " + std::to_string(settings.devices) + " devices"};
  }
  current_device = device;
}

Device& Runtime::device(int number) {
  if (number < 0 || number >= settings.devices) {
    throw ApiError{cudaErrorInvalidDevice, "there are " + std::to_string(settings.devices) + " devices"};
  }
  return *devices_[static_cast<std::size_t>(number)];
}

Stream& Runtime::stream(cudaStream_t handle) {
  // One thread's own default stream is that of all: the program's other streams tell no difference.
  if (handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread) return device().default_stream;
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const std::unique_ptr<Stream>& each) {
    return each.get() == reinterpret_cast<Stream*>(handle);
  });
  if (found == streams_.end()) throw ApiError{cudaErrorInvalidResourceHandle, "this stream does not exist (any more)"};
  return **found;
}

Stream* Runtime::add_stream(unsigned flags, int priority) {
  auto made = std::make_unique<Stream>();
  made->number = next_stream_++;
  made->device = current();
  made->flags = flags;
  made->priority = priority;
  return streams_.emplace_back(std::move(made)).get();
}

void Runtime::remove_stream(cudaStream_t handle) {
  Stream& gone = stream(handle);
  if (gone.number == 0) throw ApiError{cudaErrorInvalidResourceHandle, "the default stream cannot be destroyed"};
  // Its work goes on: what follows on the device comes after it.
  Stream& heir = device(gone.device).default_stream;
  if (gone.last != nullptr && !gone.last->done) heir.waits.push_back(gone.last);
  std::erase_if(streams_, [&](const auto& each) { return each.get() == &gone; });
}

Event& Runtime::event(cudaEvent_t handle) {
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const std::unique_ptr<Event>& each) {
    return each.get() == reinterpret_cast<Event*>(handle);
  });
  if (found == events_.end()) throw ApiError{cudaErrorInvalidResourceHandle, "this event does not exist (any more)"};
  return **found;
}

Event* Runtime::add_event(unsigned flags) {
  auto made = std::make_unique<Event>();
  made->device = current();
  made->flags = flags;
  if ((flags & cudaEventDisableTiming) == 0) times_matter_ = true;
  return events_.emplace_back(std::move(made)).get();
}

void Runtime::remove_event(cudaEvent_t handle) {
  const Event* const gone = &event(handle);
  std::erase_if(events_, [&](const auto& each) { return each.get() == gone; });
}

OperationRef Runtime::submit(Stream& stream, Operation operation) {
  std::vector<OperationRef> after = std::move(stream.waits);
  stream.waits.clear();
  after.push_back(stream.last);
  // The default stream waits for all others of its device that do not refuse it, and they for it.
  if (stream.number == 0) {
    for (const std::unique_ptr<Stream>& each : streams_) {
      if (each->device == stream.device && minds_default(*each)) after.push_back(each->last);
    }
  } else if (minds_default(stream)) {
    const Stream& standard = device(stream.device).default_stream;
    after.push_back(standard.last);
    after.insert(after.end(), standard.waits.begin(), standard.waits.end());
  }
  operation.stream = stream.number;
  operation.device = stream.device;
  stream.last = queue.add(std::move(operation), after);
  return stream.last;
}

void Runtime::wait_for(Stream& stream) {
  if (stream.number == 0) {  // it comes after all others that mind it
    for (const std::unique_ptr<Stream>& each : streams_) {
      if (each->device == stream.device && minds_default(*each)) wait_for(*each);
    }
  }
  for (const OperationRef& each : stream.waits) queue.wait_for(each);
  queue.wait_for(stream.last);
}

void Runtime::wait_for_device(int number) {
  std::vector<OperationRef> last{device(number).default_stream.last};
  last.insert(last.end(), device(number).default_stream.waits.begin(), device(number).default_stream.waits.end());
  for (const std::unique_ptr<Stream>& each : streams_) {
    if (each->device != number) continue;
    last.push_back(each->last);
    last.insert(last.end(), each->waits.begin(), each->waits.end());
  }
  // In the order in which the host asked for them.
  std::erase(last, nullptr);
  std::sort(last.begin(), last.end(), [](const auto& a, const auto& b) { return a->number < b->number; });
  for (const OperationRef& each : last) queue.wait_for(each);
}

const std::vector<exec::Segment>& Runtime::segments(int number) {
  Device& seeing = device(number);
  if (seeing.segments_generation == memory.generation()) return seeing.segments;
  seeing.segments.clear();
  for (const auto& [address, each] : memory.all()) {
    const bool sees = each.kind != MemoryKind::kDevice || each.device == number || seeing.peers.contains(each.device);
    if (!sees || each.size == 0 || each.of_program) continue;
    seeing.segments.push_back({address, each.size, each.bytes, true, true});
  }
  seeing.segments_generation = memory.generation();
  return seeing.segments;
}

}  // namespace flashpath::runtime
