#include "state/runtime.h"

#include <pthread.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <thread>

#include "ground/per_thread.h"
#include "ground/signals.h"
#include "state/heap_leaks.h"
#include "state/idle.h"
#include "work/timeline.h"

namespace flashpath::runtime {
namespace {

thread_local int current_device = 0;
thread_local cudaError_t error_of_thread = cudaSuccess;
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

bool minds_default(const Stream& stream) { return (stream.flags & cudaStreamNonBlocking) == 0; }

}  // namespace

cudaError_t& last_error() { return error_of_thread; }
cudaStreamCaptureMode& capture_mode_of_thread() { return mode_of_thread; }

Runtime* Runtime::made_ = nullptr;

Runtime& Runtime::get() {
  // Never destroyed: destructors of the program's own globals may still call.
  static Runtime* const runtime = made_ = new Runtime;
  return *runtime;
}

namespace {

// Registered before anything of the program's own: it is called after all that the program does at its end.
__attribute__((constructor)) void wait_for_end() {
  on_exit([](int exit_code, void*) { Runtime::end_if_made(exit_code); }, nullptr);
}

void tell_in(const Settings& settings, const Message& message) {
  std::fprintf(stderr, "flashpath: %s\n", settings.speech.text(message).c_str());
}

}  // namespace

void tell(const Message& message) { tell_in(Runtime::get().settings, message); }

Runtime::Runtime() : settings(Settings::from_environment()), queue(settings.devices) {
  for (int k = 0; k < settings.devices; ++k) {
    devices_.push_back(std::make_unique<Device>());
    devices_.back()->default_stream.device = k;
  }
  registry.loaded = [this](ModuleOnDevice& module, int number) { adopt_variables(module, number); };
  watch_signals(settings.parent);
  pthread_atfork(nullptr, nullptr, [] { made_->is_forked = made_->calls > 0; });
  if (!record.open(settings.record)) tell_in(settings, {"vgpu.record-not-written", {{"path", settings.record}}});
  times_matter_ = settings.profile;
  if (!settings.quiet) tell_in(settings, {"vgpu.times-are-modelled", {{"gpu", settings.gpu.name}}});
  if (settings.sanitize) {
    memory.watch_initialised();
    checks = std::make_unique<Checks>(record, memory, queue);
  }
  if (!settings.timeline.empty()) {
    times_matter_ = true;
    queue.keep_history();
  }
}

void Runtime::end_if_made(int exit_code) {
  if (made_ != nullptr && !made_->is_forked) made_->end(exit_code);
}

void Runtime::end(int exit_code) {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;  // a kernel runs that nobody waits for, and may never end
  if (!settings.timeline.empty() && !write_timeline(queue.history(), settings)) {
    tell({"vgpu.timeline-not-written", {{"path", settings.timeline}}});
  }
  if (checks != nullptr) {
    is_ending = true;
    const bool is_dead = std::any_of(devices_.begin(), devices_.end(),
                                     [](const auto& each) { return each->dead != cudaSuccess; });
    const bool gives_up = exit_code != 0 || is_dead;
    checks->end(gives_up);
    if (!gives_up) tell_heap_leaks(*this);
  }
  record.end(queue.now());
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
  if (!variables.managed.empty()) place_managed_variables(module, number);
}

// __managed__ variables are made when the first device gets the module; the host finds them by pointers of its own.
void Runtime::place_managed_variables(const ModuleOnDevice& module, int number) {
  const ModuleMemory& variables = *module.loaded.memory;
  const std::uint64_t base = variables.bases.managed;
  if (memory.find(reinterpret_cast<void*>(base)) != nullptr) return;
  const Allocation* const made = memory.allocate_at(base, MemoryKind::kManaged, variables.managed.size());
  if (made == nullptr) throw ApiError{cudaErrorMemoryAllocation, "vgpu.no-room-for-managed"};
  std::copy(variables.managed.begin(), variables.managed.end(), made->bytes);
  for (const auto& [host, variable] : registry.variables()) {
    if (!variable.is_managed) continue;
    const auto loaded = variable.module->devices().find(number);
    if (loaded == variable.module->devices().end() || loaded->second.get() != &module) continue;
    *variable.host_pointer = reinterpret_cast<void*>(module.address_of(variable.name).value());
  }
}

int Runtime::current() const { return current_device; }

void Runtime::set_current(int device) {
  if (device < 0 || device >= settings.devices) {
    throw ApiError{cudaErrorInvalidDevice, {"vgpu.count-of-devices", {{"count", settings.devices}}}};
  }
  current_device = device;
}

Device& Runtime::device(int number) {
  if (number < 0 || number >= settings.devices) {
    throw ApiError{cudaErrorInvalidDevice, {"vgpu.count-of-devices", {{"count", settings.devices}}}};
  }
  return *devices_[static_cast<std::size_t>(number)];
}

Stream& Runtime::stream(cudaStream_t handle) {
  if (handle == cudaStreamPerThread || (handle == nullptr && asks_for_own_stream())) return own_stream();
  if (handle == nullptr || handle == cudaStreamLegacy) return device().default_stream;
  const auto found = std::find_if(streams_.begin(), streams_.end(), [&](const std::unique_ptr<Stream>& each) {
    return each.get() == reinterpret_cast<Stream*>(handle);
  });
  if (found == streams_.end()) throw ApiError{cudaErrorInvalidResourceHandle, "vgpu.no-such-stream"};
  return **found;
}

// As any other stream it minds the default stream of all, and no others.
Stream& Runtime::own_stream() {
  thread_local std::map<int, Stream*> of_thread;  // by device
  Stream*& own = of_thread[current()];
  if (own == nullptr) {
    own = add_stream(cudaStreamDefault, 0);
    own->is_of_thread = true;
  }
  return *own;
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
  if (gone.number == 0 || gone.is_of_thread) {
    throw ApiError{cudaErrorInvalidResourceHandle, "vgpu.default-stream-stays"};
  }
  // Its work goes on: what follows on the device comes after it.
  Stream& heir = device(gone.device).default_stream;
  if (gone.last != nullptr && !gone.last->done) heir.waits.push_back(gone.last);
  std::erase_if(streams_, [&](const auto& each) { return each.get() == &gone; });
}

Event& Runtime::event(cudaEvent_t handle) {
  const auto found = std::find_if(events_.begin(), events_.end(), [&](const std::unique_ptr<Event>& each) {
    return each.get() == reinterpret_cast<Event*>(handle);
  });
  if (found == events_.end()) throw ApiError{cudaErrorInvalidResourceHandle, "vgpu.no-such-event"};
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
  if (stream.capture != nullptr) {
    capture(stream, std::move(operation));
    return nullptr;
  }
  if (stream.number == 0) refuse_beside_capture(stream);
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
  work_while_host_is_idle(*this);
  return stream.last;
}

void Runtime::wait_for(Stream& stream) {
  refuse_in_capture(stream, "vgpu.wait-for-captured-stream");
  queue.wait_for(last_of(stream));
}

std::vector<OperationRef> Runtime::last_of(Stream& stream) {
  std::vector<OperationRef> last = stream.waits;
  last.push_back(stream.last);
  if (stream.number != 0) return last;
  for (const std::unique_ptr<Stream>& each : streams_) {  // the default stream comes after all others that mind it
    if (each->device != stream.device || !minds_default(*each)) continue;
    refuse_in_capture(*each, "vgpu.wait-for-captured-stream");
    last.insert(last.end(), each->waits.begin(), each->waits.end());
    last.push_back(each->last);
  }
  return last;
}

void Runtime::wait_for_device(int number) {
  std::vector<OperationRef> last{device(number).default_stream.last};
  last.insert(last.end(), device(number).default_stream.waits.begin(), device(number).default_stream.waits.end());
  for (const std::unique_ptr<Stream>& each : streams_) {
    if (each->device != number) continue;
    last.push_back(each->last);
    last.insert(last.end(), each->waits.begin(), each->waits.end());
  }
  queue.wait_for(last);
}

// ---- Graphs ------------------------------------------------------------------------------------------------

void Runtime::begin_capture(Stream& stream, cudaStreamCaptureMode mode) {
  if (stream.number == 0) {
    throw ApiError{cudaErrorStreamCaptureUnsupported, "vgpu.default-stream-captured"};
  }
  if (stream.capture != nullptr) throw ApiError{cudaErrorIllegalState, "vgpu.stream-captured-already"};
  stream.capture = std::make_shared<Capture>();
  stream.capture->origin = &stream;
  stream.capture->mode = mode;
  stream.capture->thread = std::this_thread::get_id();
  stream.capture->id = next_capture_++;
  stream.captured_last.clear();
}

void Runtime::capture(Stream& stream, Operation operation) {
  Capture& capture = *stream.capture;
  operation.site = current_call_site();
  operation.stream = stream.number;
  operation.device = stream.device;
  capture.graph.nodes.push_back({std::move(operation), stream.captured_last});
  stream.captured_last = {capture.graph.nodes.size() - 1};
}

Graph Runtime::end_capture(Stream& stream) {
  const std::shared_ptr<Capture> ended = stream.capture;
  if (ended == nullptr) throw ApiError{cudaErrorIllegalState, "vgpu.stream-not-captured"};
  if (ended->origin != &stream) {
    throw ApiError{cudaErrorStreamCaptureUnmatched, "vgpu.capture-ends-elsewhere"};
  }
  // All that other streams did must lie before what this one did last.
  std::vector<bool> is_before(ended->graph.nodes.size());
  std::vector<std::size_t> open = stream.captured_last;
  while (!open.empty()) {
    const std::size_t node = open.back();
    open.pop_back();
    if (is_before[node]) continue;
    is_before[node] = true;
    const std::vector<std::size_t>& after = ended->graph.nodes[node].after;
    open.insert(open.end(), after.begin(), after.end());
  }
  const bool is_joined = std::find(is_before.begin(), is_before.end(), false) == is_before.end();
  for (const std::unique_ptr<Stream>& each : streams_) {
    if (each->capture == ended) each->capture = nullptr;
  }
  if (ended->is_broken) {
    throw ApiError{cudaErrorStreamCaptureInvalidated, "vgpu.capture-broken"};
  }
  if (!is_joined) {
    throw ApiError{cudaErrorStreamCaptureUnjoined,
                   "vgpu.capture-unjoined"};
  }
  return std::move(ended->graph);
}

GraphNode& Runtime::node(cudaGraphNode_t handle) {
  const GraphNode* const asked = reinterpret_cast<GraphNode*>(handle);
  for (const std::unique_ptr<Graph>& graph : graphs_.all()) {
    for (GraphNode& each : graph->nodes) {
      if (&each == asked) return each;
    }
  }
  throw ApiError{cudaErrorInvalidValue, "vgpu.no-such-node"};
}

Graph Runtime::instantiate(const Graph& graph) {
  Graph made{graph.nodes, nullptr};
  for (GraphNode& each : made.nodes) each.operation.chain = next_chain_++;
  return made;
}

void Runtime::launch(Graph& graph, Stream& stream) {
  if (graph.last != nullptr) stream.waits.push_back(graph.last);
  Operation begin;
  begin.name = begin.kind = "graph";
  const OperationRef first = submit(stream, std::move(begin));
  std::vector<OperationRef> made;
  std::vector<OperationRef> leaves;
  std::vector<bool> is_leaf(graph.nodes.size(), true);
  for (const GraphNode& node : graph.nodes) {
    for (const std::size_t each : node.after) is_leaf[each] = false;
  }
  for (std::size_t k = 0; k < graph.nodes.size(); ++k) {
    std::vector<OperationRef> after;
    for (const std::size_t each : graph.nodes[k].after) after.push_back(made[each]);
    if (after.empty()) after.push_back(first);
    made.push_back(queue.add(graph.nodes[k].operation, after));
    if (is_leaf[k]) leaves.push_back(made.back());
  }
  Operation end;
  end.name = end.kind = "graph";
  stream.waits = leaves;
  graph.last = submit(stream, std::move(end));
}

void Runtime::refuse_in_capture(Stream& stream, const char* why) {
  if (stream.capture == nullptr) return;
  stream.capture->is_broken = true;
  throw ApiError{cudaErrorStreamCaptureUnsupported, why};
}

template <class F>
void Runtime::refuse_in_captures(const char* why, F&& concerns) {
  bool is_refused = false;
  for (const std::unique_ptr<Stream>& each : streams_) {
    if (each->capture == nullptr || !concerns(*each)) continue;
    each->capture->is_broken = is_refused = true;
  }
  if (is_refused) throw ApiError{cudaErrorStreamCaptureUnsupported, why};
}

void Runtime::refuse_in_any_capture(int number, const char* why) {
  refuse_in_captures(why, [&](const Stream& stream) { return stream.device == number; });
}

void Runtime::refuse_unsafe_call() {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return;
  constexpr const char* kWhy =
      "vgpu.may-wait-during-capture";
  refuse_in_captures(kWhy, [](const Stream& stream) {
    const Capture& capture = *stream.capture;
    if (capture.thread == std::this_thread::get_id()) return capture.mode != cudaStreamCaptureModeRelaxed;
    return capture.mode == cudaStreamCaptureModeGlobal && mode_of_thread == cudaStreamCaptureModeGlobal;
  });
}

// The default stream would have to wait for the captured one, whose work is not done now.
void Runtime::refuse_beside_capture(const Stream& standard) {
  for (const std::unique_ptr<Stream>& each : streams_) {
    if (each->capture == nullptr || each->device != standard.device || !minds_default(*each)) continue;
    each->capture->is_broken = true;
    throw ApiError{cudaErrorStreamCaptureImplicit,
                   "vgpu.default-stream-during-capture"};
  }
}

void Runtime::mark(Event& event, Stream& stream) {
  event.capture = stream.capture;
  event.captured_mark = stream.captured_last;
  if (stream.capture != nullptr) return;
  Operation operation;
  operation.name = operation.kind = "event";
  event.mark = submit(stream, std::move(operation));
}

void Runtime::wait_for_event(Stream& stream, const Event& event) {
  const bool is_captured = event.capture != nullptr;
  if (!is_captured && stream.capture != nullptr && event.mark != nullptr) {
    stream.capture->is_broken = true;
    throw ApiError{cudaErrorStreamCaptureIsolation, "vgpu.event-outside-capture"};
  }
  if (is_captured) {
    if (stream.capture != nullptr && stream.capture != event.capture) {
      throw ApiError{cudaErrorStreamCaptureMerge, "vgpu.event-of-other-capture"};
    }
    if (stream.capture == nullptr) stream.captured_last.clear();
    stream.capture = event.capture;
    for (const std::size_t node : event.captured_mark) {
      if (std::find(stream.captured_last.begin(), stream.captured_last.end(), node) == stream.captured_last.end()) {
        stream.captured_last.push_back(node);
      }
    }
    return;
  }
  if (event.mark != nullptr) stream.waits.push_back(event.mark);
}

const std::vector<machine::Segment>& Runtime::segments(int number) {
  Device& seeing = device(number);
  if (seeing.segments_generation == memory.generation()) return seeing.segments;
  seeing.segments.clear();
  for (const auto& [address, each] : memory.all()) {
    const bool sees = each.kind != MemoryKind::kDevice || each.device == number || seeing.peers.contains(each.device);
    const bool comes_with_module = each.of_program && each.kind != MemoryKind::kManaged;
    if (!sees || each.size == 0 || comes_with_module) continue;
    seeing.segments.push_back({address, each.size, each.bytes, true});
  }
  seeing.segments_generation = memory.generation();
  return seeing.segments;
}

}  // namespace flashpath::runtime
