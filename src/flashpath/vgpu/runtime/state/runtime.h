// The state of the CUDA runtime in a program: its devices, their memory, and the work that is asked of them.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "binary/registry.h"
#include "checks/checks.h"
#include "device/memory.h"
#include "ground/settings.h"
#include "work/queue.h"
#include "work/record.h"
#include "work/stream.h"

namespace flashpath::runtime {

struct Device {
  Stream default_stream;
  cudaError_t dead = cudaSuccess;  // the error that its context died of, which every later call returns
  bool death_is_told = false;      // to the program, by a call that returned it
  std::set<int> peers;             // whose memory its kernels may touch
  std::vector<machine::Segment> segments;  // of all that its kernels see
  std::uint64_t segments_generation = ~0ull;
  unsigned flags = 0;
  cudaFuncCache cache = cudaFuncCachePreferNone;  // of its kernels, unless they say otherwise
  std::map<int, std::size_t> limits;  // cudaLimit
};

// An error that a call returns, and what is said beside the code. `finding`: what the sanitizer calls it, where it is
// a mistake for certain; `other`: a call before that has to do with it.
struct ApiError {
  cudaError_t code = cudaSuccess;
  Message reason;  // empty: what the code says is all
  const char* finding = "";
  HostParty other = {};
};

// Things of the program's, known to it by handles, which are their addresses.
template <class T, class Handle>
class Handles {
 public:
  Handle add(T made) {
    return reinterpret_cast<Handle>(all_.emplace_back(std::make_unique<T>(std::move(made))).get());
  }
  T& find(Handle handle, const char* otherwise) {
    for (const std::unique_ptr<T>& each : all_) {
      if (each.get() == reinterpret_cast<T*>(handle)) return *each;
    }
    throw ApiError{cudaErrorInvalidValue, otherwise};
  }
  void remove(const T& gone) {
    std::erase_if(all_, [&](const auto& each) { return each.get() == &gone; });
  }
  const std::vector<std::unique_ptr<T>>& all() const { return all_; }

 private:
  std::vector<std::unique_ptr<T>> all_;
};

class Runtime {
 public:
  static Runtime& get();
  // The program has come to its end, with this exit code; its own destructors have run.
  static void end_if_made(int exit_code);

  // ---- Devices ----
  int current() const;
  void set_current(int device);
  Device& device(int number);
  Device& device() { return device(current()); }
  const Gpu& gpu() const { return settings.gpu; }

  // ---- Streams and events; each throws ApiError where the handle is none ----
  Stream& stream(cudaStream_t handle);
  Stream* add_stream(unsigned flags, int priority);
  void remove_stream(cudaStream_t handle);
  Event& event(cudaEvent_t handle);
  Event* add_event(unsigned flags);
  void remove_event(cudaEvent_t handle);

  // Adds work to a stream: after all that is in it, and what the default stream's rules say. While the stream is
  // captured it becomes a node of a graph, and nullptr is returned.
  OperationRef submit(Stream& stream, Operation operation);
  void mark(Event& event, Stream& stream);
  void wait_for_event(Stream& stream, const Event& event);
  // What has to be done before all that a stream was asked for is.
  std::vector<OperationRef> last_of(Stream& stream);
  void wait_for(Stream& stream);
  void wait_for_device(int device);

  // ---- Graphs ----
  void begin_capture(Stream& stream, cudaStreamCaptureMode mode);
  Graph end_capture(Stream& stream);
  Graph instantiate(const Graph& graph);
  // The graphs that the program has, and those that it has made ready to launch; each throws ApiError where the handle
  // is none.
  Graph& graph(cudaGraph_t handle) { return graphs_.find(handle, "vgpu.no-such-graph"); }
  Graph& graph(cudaGraphExec_t handle) { return instances_.find(handle, "vgpu.no-such-instantiated-graph"); }
  GraphNode& node(cudaGraphNode_t handle);
  Handles<Graph, cudaGraph_t>& graphs() { return graphs_; }
  Handles<Graph, cudaGraphExec_t>& instances() { return instances_; }
  void launch(Graph& graph, Stream& stream);
  // Throws where a call that waits, or otherwise cannot be captured, is made of a stream that is.
  void refuse_in_capture(Stream& stream, const char* why);
  // The same of a call that concerns all streams of a device.
  void refuse_in_any_capture(int device, const char* why);
  // The same of a call that may wait for a device, such as cudaMalloc: whether it may be made while some stream is
  // captured is for the mode of the capture, and of the thread, to say.
  void refuse_unsafe_call();

  // ---- Kernels ----
  // What kernels on a device see, in order.
  const std::vector<machine::Segment>& segments(int device);
  // Whether times may be asked for, so that launches are counted.
  bool times_matter() const { return times_matter_; }

  Settings settings;
  Registry registry;
  Memory memory;
  Queue queue;
  Record record;
  std::unique_ptr<Checks> checks;  // nullptr unless the program is checked
  bool is_ending = false;          // nothing that is done now would be done on a GPU
  // As on hardware, all is taken down that the first call has set up, when it is that call's turn among what is to be
  // done at the program's end: globals that were made before it are destroyed later.
  bool is_unloaded = false;
  bool is_forked = false;  // this process is a copy of the one that has called: CUDA is not there for it
  std::recursive_mutex mutex;
  std::atomic<std::uint64_t> calls = 0;  // of the API, so far
  bool works_beside_host = false;        // the present work is done while the host does something else

 private:
  Runtime();
  void end(int exit_code);
  Stream& own_stream();
  void adopt_variables(ModuleOnDevice& module, int device);
  void place_managed_variables(const ModuleOnDevice& module, int device);
  void capture(Stream& stream, Operation operation);
  void refuse_beside_capture(const Stream& standard);
  template <class F>
  void refuse_in_captures(const char* why, F&& concerns);

  static Runtime* made_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Stream>> streams_;  // those that the program made
  std::vector<std::unique_ptr<Event>> events_;
  Handles<Graph, cudaGraph_t> graphs_;
  Handles<Graph, cudaGraphExec_t> instances_;
  std::uint64_t next_stream_ = 1;
  std::uint64_t next_capture_ = 1;
  std::uint64_t next_chain_ = 1ull << 63;  // of a graph's nodes (checks/order.h)
  bool times_matter_ = false;
};

// The calling thread's own: what cudaThreadExchangeStreamCaptureMode sets.
cudaStreamCaptureMode& capture_mode_of_thread();

// What the calling thread of the host had as its last error; cudaGetLastError resets it.
cudaError_t& last_error();

}  // namespace flashpath::runtime
