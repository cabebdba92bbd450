// Work that overlaps as CUDA allows it: a checker that knows less of order than CUDA does finds mistakes here.
#include <thread>
#include <vector>

#include "../planted/planted.h"

constexpr int kCount = 4096;
constexpr size_t kBytes = kCount * sizeof(float);
constexpr int kThreads = 256;

__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void add_one(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void twice(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}

__global__ void count(int* counter) { atomicAdd(counter, 1); }

template <class T>
T* device_array(size_t count) {
  T* x;
  check(cudaMalloc(&x, count * sizeof(T)));
  check(cudaMemset(x, 0, count * sizeof(T)));
  check(cudaDeviceSynchronize());
  return x;
}

template <class T>
T* pinned_array(size_t count) {
  T* x;
  check(cudaMallocHost(&x, count * sizeof(T)));
  std::memset(x, 0, count * sizeof(T));
  return x;
}

struct Stream {
  cudaStream_t handle;

  explicit Stream(unsigned flags = cudaStreamDefault) { check(cudaStreamCreateWithFlags(&handle, flags)); }
  ~Stream() { check(cudaStreamDestroy(handle)); }
  operator cudaStream_t() const { return handle; }
};

struct Event {
  cudaEvent_t handle;

  Event() { check(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming)); }
  ~Event() { check(cudaEventDestroy(handle)); }
  operator cudaEvent_t() const { return handle; }
};

// While a kernel works on one buffer, the next data are copied to the other.
void double_buffer() {
  constexpr int kRounds = 6;
  const Stream copies, kernels;
  const Event arrived[2], used[2];
  float* const buffers[2] = {device_array<float>(kCount), device_array<float>(kCount)};
  float* const results = device_array<float>(kRounds * kCount);
  float* const host = pinned_array<float>(kRounds * kCount);
  for (int i = 0; i < kRounds * kCount; ++i) host[i] = i / kCount;
  for (int round = 0; round < kRounds; ++round) {
    const int turn = round % 2;
    if (round >= 2) check(cudaStreamWaitEvent(copies, used[turn]));
    check(cudaMemcpyAsync(buffers[turn], host + round * kCount, kBytes, cudaMemcpyHostToDevice, copies));
    check(cudaEventRecord(arrived[turn], copies));
    check(cudaStreamWaitEvent(kernels, arrived[turn]));
    twice<<<kCount / kThreads, kThreads, 0, kernels>>>(buffers[turn], results + round * kCount);
    check(cudaEventRecord(used[turn], kernels));
  }
  check(cudaStreamSynchronize(kernels));
  check(cudaMemcpy(host, results, kRounds * kBytes, cudaMemcpyDeviceToHost));
  for (int round = 0; round < kRounds; ++round) expect(host[round * kCount + 7] == 2 * round);
  for (float* each : buffers) check(cudaFree(each));
  check(cudaFree(results));
  check(cudaFreeHost(host));
}

// Parts of one array, each in a stream of its own.
void chunks() {
  constexpr int kStreams = 4;
  constexpr int kPart = kCount / kStreams;
  const Stream streams[kStreams];
  float* const x = device_array<float>(kCount);
  float* const host = pinned_array<float>(kCount);
  for (int k = 0; k < kStreams; ++k) {
    const size_t bytes = kPart * sizeof(float);
    check(cudaMemcpyAsync(x + k * kPart, host + k * kPart, bytes, cudaMemcpyHostToDevice, streams[k]));
    add_one<<<kPart / kThreads, kThreads, 0, streams[k]>>>(x + k * kPart);
    check(cudaMemcpyAsync(host + k * kPart, x + k * kPart, bytes, cudaMemcpyDeviceToHost, streams[k]));
  }
  for (int k = 0; k < kStreams; ++k) {
    check(cudaStreamSynchronize(streams[k]));
    for (int i = 0; i < kPart; ++i) expect(host[k * kPart + i] == 1);  // the other parts may be on their way
  }
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

// The host fills one managed array while a kernel works on another.
void host_beside_kernel() {
  float *x, *y;
  check(cudaMallocManaged(&x, kBytes));
  check(cudaMallocManaged(&y, kBytes));
  fill<<<kCount / kThreads, kThreads>>>(x, 1);
  for (int i = 0; i < kCount; ++i) y[i] = 5;
  check(cudaDeviceSynchronize());
  expect(x[9] == 1 && y[9] == 5);
  check(cudaFree(x));
  check(cudaFree(y));
}

// Half of one array each.
void halves() {
  float* x;
  check(cudaMallocManaged(&x, 2 * kBytes));
  fill<<<kCount / kThreads, kThreads>>>(x, 1);
  for (int i = kCount; i < 2 * kCount; ++i) x[i] = 5;
  check(cudaDeviceSynchronize());
  expect(x[9] == 1 && x[kCount + 9] == 5);
  check(cudaFree(x));
}

// The host and a kernel read the same: nobody writes.
void both_read() {
  float *x, *y;
  check(cudaMallocManaged(&x, kBytes));
  check(cudaMallocManaged(&y, kBytes));
  for (int i = 0; i < kCount; ++i) x[i] = i;
  twice<<<kCount / kThreads, kThreads>>>(x, y);
  float sum = 0;
  for (int i = 0; i < 100; ++i) sum += x[i];
  check(cudaDeviceSynchronize());
  expect(sum == 4950 && y[9] == 18);
  check(cudaFree(x));
  check(cudaFree(y));
}

// The source of a copy may be read meanwhile, by the host and by another copy.
void source_is_read() {
  const Stream one, other;
  float *x = device_array<float>(kCount), *y = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  for (int i = 0; i < kCount; ++i) host[i] = i;
  check(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, one));
  check(cudaMemcpyAsync(y, host, kBytes, cudaMemcpyHostToDevice, other));
  expect(host[9] == 9);
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFree(y));
  check(cudaFreeHost(host));
}

// Atomic operations of two kernels may come in any order.
void one_counter() {
  const Stream one, other;
  int *counter = device_array<int>(1), host = 0;
  count<<<4, kThreads, 0, one>>>(counter);
  count<<<4, kThreads, 0, other>>>(counter);
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(&host, counter, sizeof host, cudaMemcpyDeviceToHost));
  expect(host == 8 * kThreads);
  check(cudaFree(counter));
}

// The default stream comes after all streams that were there before, and before all that follow.
void default_stream_orders() {
  const Stream one, other;
  float *x = device_array<float>(kCount), *y = device_array<float>(kCount), host[kCount];
  fill<<<kCount / kThreads, kThreads, 0, one>>>(x, 3);
  add_one<<<kCount / kThreads, kThreads>>>(x);
  twice<<<kCount / kThreads, kThreads, 0, other>>>(x, y);
  check(cudaMemcpy(host, y, kBytes, cudaMemcpyDeviceToHost));
  expect(host[9] == 8);
  check(cudaFree(x));
  check(cudaFree(y));
}

void legacy_stream_by_name() {
  const Stream one;
  float *x = device_array<float>(kCount), host[kCount];
  fill<<<kCount / kThreads, kThreads, 0, one>>>(x, 3);
  add_one<<<kCount / kThreads, kThreads, 0, cudaStreamLegacy>>>(x);
  add_one<<<kCount / kThreads, kThreads, 0, one>>>(x);
  check(cudaStreamSynchronize(one));
  check(cudaMemcpy(host, x, kBytes, cudaMemcpyDeviceToHost));
  expect(host[9] == 5);
  check(cudaFree(x));
}

// Launches of one graph come one after the other, also from several streams where events say so.
void graph_again_and_again() {
  const Stream one, other;
  const Event between;
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  check(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  add_one<<<kCount / kThreads, kThreads, 0, one>>>(x);
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, one));
  check(cudaStreamEndCapture(one, &graph));
  check(cudaGraphInstantiate(&runnable, graph, 0));
  for (int k = 0; k < 3; ++k) check(cudaGraphLaunch(runnable, one));
  check(cudaEventRecord(between, one));
  check(cudaStreamWaitEvent(other, between));
  check(cudaGraphLaunch(runnable, other));
  check(cudaStreamSynchronize(other));
  expect(host[9] == 4);
  check(cudaGraphExecDestroy(runnable));
  check(cudaGraphDestroy(graph));
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

// A graph does not run beside itself: each launch comes after the one before, whatever their streams.
void graph_in_two_streams() {
  const Stream one(cudaStreamNonBlocking), other(cudaStreamNonBlocking);
  float *x = device_array<float>(kCount), host[kCount];
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  check(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  add_one<<<kCount / kThreads, kThreads, 0, one>>>(x);
  check(cudaStreamEndCapture(one, &graph));
  check(cudaGraphInstantiate(&runnable, graph, 0));
  check(cudaGraphLaunch(runnable, one));
  check(cudaGraphLaunch(runnable, other));
  check(cudaDeviceSynchronize());
  check(cudaMemcpy(host, x, kBytes, cudaMemcpyDeviceToHost));
  expect(host[9] == 2);
  check(cudaGraphExecDestroy(runnable));
  check(cudaGraphDestroy(graph));
  check(cudaFree(x));
}

// A graph with two branches, which meet again.
void graph_with_branches() {
  const Stream one, other;
  const Event forked, joined;
  float *x = device_array<float>(kCount), *y = device_array<float>(kCount), *z = device_array<float>(kCount);
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  check(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  fill<<<kCount / kThreads, kThreads, 0, one>>>(x, 2);
  check(cudaEventRecord(forked, one));
  check(cudaStreamWaitEvent(other, forked));
  twice<<<kCount / kThreads, kThreads, 0, one>>>(x, y);
  twice<<<kCount / kThreads, kThreads, 0, other>>>(x, z);
  check(cudaEventRecord(joined, other));
  check(cudaStreamWaitEvent(one, joined));
  add_one<<<kCount / kThreads, kThreads, 0, one>>>(z);
  check(cudaStreamEndCapture(one, &graph));
  check(cudaGraphInstantiate(&runnable, graph, 0));
  check(cudaGraphLaunch(runnable, one));
  check(cudaGraphLaunch(runnable, one));
  float host[kCount];
  check(cudaStreamSynchronize(one));
  check(cudaMemcpy(host, z, kBytes, cudaMemcpyDeviceToHost));
  expect(host[9] == 5);
  check(cudaGraphExecDestroy(runnable));
  check(cudaGraphDestroy(graph));
  for (float* each : {x, y, z}) check(cudaFree(each));
}

struct Told {
  const float* results;
  float first = 0;
};

// A function of the host takes its turn in the stream: what was copied before is there.
void host_function_reads() {
  const Stream stream;
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  Told told{host};
  fill<<<kCount / kThreads, kThreads, 0, stream>>>(x, 3);
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));
  check(cudaLaunchHostFunc(
      stream, [](void* data) { static_cast<Told*>(data)->first = static_cast<Told*>(data)->results[0]; }, &told));
  check(cudaStreamSynchronize(stream));
  expect(told.first == 3);
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

// What an event says is done may be used, whatever came after it.
void event_in_the_midst() {
  const Stream stream;
  const Event copied;
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  fill<<<kCount / kThreads, kThreads, 0, stream>>>(x, 3);
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));
  check(cudaEventRecord(copied, stream));
  add_one<<<kCount / kThreads, kThreads, 0, stream>>>(x);
  check(cudaEventSynchronize(copied));
  expect(host[9] == 3);
  check(cudaStreamSynchronize(stream));
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

// Pageable memory is read before the call returns: it may be written again at once.
void pageable_source() {
  const Stream stream;
  float* const x = device_array<float>(kCount);
  std::vector<float> host(kCount, 4);
  check(cudaMemcpyAsync(x, host.data(), kBytes, cudaMemcpyHostToDevice, stream));
  for (float& each : host) each = 0;
  check(cudaStreamSynchronize(stream));
  check(cudaMemcpy(host.data(), x, kBytes, cudaMemcpyDeviceToHost));
  expect(host[9] == 4);
  check(cudaFree(x));
}

// Memory of a stream, freed in it while its kernels are under way, and taken again.
void stream_ordered_memory() {
  const Stream stream;
  float* host = pinned_array<float>(kCount);
  for (int round = 0; round < 3; ++round) {
    float* x;
    check(cudaMallocAsync(&x, kBytes, stream));
    fill<<<kCount / kThreads, kThreads, 0, stream>>>(x, round);
    check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));
    check(cudaFreeAsync(x, stream));
  }
  check(cudaStreamSynchronize(stream));
  expect(host[9] == 2);
  check(cudaFreeHost(host));
}

// cudaFree waits for the kernels that are under way, and so does cudaFreeHost.
void freed_under_way() {
  const Stream stream(cudaStreamNonBlocking);
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  fill<<<kCount / kThreads, kThreads, 0, stream>>>(x, 3);
  check(cudaFree(x));
  fill<<<kCount / kThreads, kThreads, 0, stream>>>(host, 3);
  check(cudaFreeHost(host));
}

void threads_of_the_host() {
  std::vector<std::thread> threads;
  for (int k = 0; k < 4; ++k) {
    threads.emplace_back([k] {
      const Stream stream(cudaStreamNonBlocking);
      float *x, *host;
      check(cudaMalloc(&x, kBytes));
      check(cudaMallocHost(&host, kBytes));
      for (int round = 0; round < 5; ++round) {
        fill<<<kCount / kThreads, kThreads, 0, stream>>>(x, k + round);
        check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));
        check(cudaStreamSynchronize(stream));
        expect(host[9] == k + round);
      }
      check(cudaFree(x));
      check(cudaFreeHost(host));
    });
  }
  for (std::thread& each : threads) each.join();
}

// Two kernels read the same array, each in its stream.
void two_readers() {
  const Stream one, other;
  float *x = device_array<float>(kCount), *y = device_array<float>(kCount), *z = device_array<float>(kCount);
  twice<<<kCount / kThreads, kThreads, 0, one>>>(x, y);
  twice<<<kCount / kThreads, kThreads, 0, other>>>(x, z);
  check(cudaDeviceSynchronize());
  for (float* each : {x, y, z}) check(cudaFree(each));
}

// The left and the right half of each row: their bytes take turns, and none is of both.
void columns() {
  const Stream one, other;
  constexpr size_t kRow = 64 * sizeof(float), kHalf = kRow / 2, kRows = kCount / 64;
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  float* const right = host + 32;
  check(cudaMemcpy2DAsync(x, kRow, host, kRow, kHalf, kRows, cudaMemcpyHostToDevice, one));
  check(cudaMemcpy2DAsync(x + 32, kRow, right, kRow, kHalf, kRows, cudaMemcpyHostToDevice, other));
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

// An event that is recorded anew stands for its last place; who waited for an earlier one has not waited for it.
void event_used_again() {
  const Stream one, other;
  const Event event;
  float *x = device_array<float>(kCount), *y = device_array<float>(kCount), host[kCount];
  for (int round = 1; round <= 3; ++round) {
    fill<<<kCount / kThreads, kThreads, 0, one>>>(x, round);
    check(cudaEventRecord(event, one));
    check(cudaStreamWaitEvent(other, event));
    twice<<<kCount / kThreads, kThreads, 0, other>>>(x, y);
    check(cudaEventRecord(event, other));
    check(cudaStreamWaitEvent(one, event));
  }
  check(cudaStreamSynchronize(one));
  check(cudaMemcpy(host, y, kBytes, cudaMemcpyDeviceToHost));
  expect(host[9] == 6);
  check(cudaFree(x));
  check(cudaFree(y));
}

void asked_until_done() {
  const Stream stream;
  const Event event;
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  fill<<<kCount / kThreads, kThreads, 0, stream>>>(x, 3);
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));
  check(cudaEventRecord(event, stream));
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  expect(host[9] == 3);
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

// What a function of the host writes in its turn, the copy after it takes.
void host_function_writes() {
  const Stream stream;
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount), first = 0;
  check(cudaLaunchHostFunc(stream, [](void* data) { static_cast<float*>(data)[0] = 8; }, host));
  check(cudaMemcpyAsync(x, host, kBytes, cudaMemcpyHostToDevice, stream));
  check(cudaStreamSynchronize(stream));
  check(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost));
  expect(first == 8);
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

struct Vector {
  int count;
  float* data;
};

__global__ void fill_vector(Vector vector, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < vector.count) vector.data[i] = value;
}

// The host works on one vector while a kernel has the other, by way of a struct.
void struct_arguments() {
  Vector one{kCount, nullptr}, other{kCount, nullptr};
  check(cudaMallocManaged(&one.data, kBytes));
  check(cudaMallocManaged(&other.data, kBytes));
  for (int round = 0; round < 3; ++round) {
    fill_vector<<<kCount / kThreads, kThreads>>>(round % 2 ? one : other, round);
    (round % 2 ? other : one).data[0] = -1;
    check(cudaDeviceSynchronize());
  }
  expect(other.data[9] == 2 && one.data[0] == -1);
  check(cudaFree(one.data));
  check(cudaFree(other.data));
}

// One thread waits, another reads after it: what the first has waited for is there for both.
void one_waits_for_all() {
  const Stream stream;
  float *x = device_array<float>(kCount), *host = pinned_array<float>(kCount);
  fill<<<kCount / kThreads, kThreads, 0, stream>>>(x, 3);
  check(cudaMemcpyAsync(host, x, kBytes, cudaMemcpyDeviceToHost, stream));
  std::thread waiting([&] { check(cudaStreamSynchronize(stream)); });
  waiting.join();
  expect(host[9] == 3);
  check(cudaFree(x));
  check(cudaFreeHost(host));
}

__global__ void count_for_all(int* counter) { atomicAdd_system(counter, 1); }

// Host and device count in one place, each by atomic operations; the host may also look before it does.
void host_counts_too() {
  int* counter;
  check(cudaMallocManaged(&counter, sizeof(int)));
  *counter = 0;
  count_for_all<<<4, 32>>>(counter);
  for (int k = 0; k < 10; ++k) __sync_fetch_and_add(counter, 1);
  for (int seen = *counter; !__sync_bool_compare_and_swap(counter, seen, seen + 1); seen = *counter) {
  }
  __atomic_exchange_n(counter, *counter, __ATOMIC_SEQ_CST);
  check(cudaDeviceSynchronize());
  check(cudaFree(counter));
}

struct Owner {
  float* data = nullptr;
  ~Owner() { cudaFree(data); }  // CUDA is gone by then, and the memory with it
};
Owner of_whole_program;

// Freed after main, by a destructor.
void global_owner() { of_whole_program.data = device_array<float>(kCount); }

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(double_buffer), NAMED(chunks), NAMED(host_beside_kernel), NAMED(halves), NAMED(both_read),
                    NAMED(source_is_read), NAMED(one_counter), NAMED(default_stream_orders),
                    NAMED(legacy_stream_by_name), NAMED(graph_again_and_again), NAMED(graph_in_two_streams),
                    NAMED(graph_with_branches),
                    NAMED(host_function_reads), NAMED(event_in_the_midst), NAMED(pageable_source),
                    NAMED(stream_ordered_memory), NAMED(freed_under_way), NAMED(threads_of_the_host),
                    NAMED(two_readers), NAMED(columns), NAMED(event_used_again), NAMED(asked_until_done),
                    NAMED(host_function_writes), NAMED(struct_arguments), NAMED(one_waits_for_all),
                    NAMED(global_owner), NAMED(host_counts_too)});
}
