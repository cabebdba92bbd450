// Two streams use the same memory, and nothing says which comes first.
#include <thread>

#include "planted.h"

constexpr int kCount = 1024;
constexpr size_t kBytes = kCount * sizeof(float);

__global__ void fill(float* x, float value) { x[blockIdx.x * blockDim.x + threadIdx.x] = value; }

__global__ void twice(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = 2 * x[i];
}

// Two streams, and two arrays on the device.
struct Setting {
  cudaStream_t one, other;
  cudaEvent_t event;
  float *x, *y;

  explicit Setting(unsigned flags = cudaStreamDefault) {
    check(cudaStreamCreateWithFlags(&one, flags));
    check(cudaStreamCreateWithFlags(&other, flags));
    check(cudaEventCreate(&event));
    check(cudaMalloc(&x, kBytes));
    check(cudaMalloc(&y, kBytes));
    check(cudaMemset(x, 0, kBytes));
    check(cudaMemset(y, 0, kBytes));
    check(cudaDeviceSynchronize());
  }

  bool holds(const float* array, float value) {
    static float host[kCount];
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(host, array, kBytes, cudaMemcpyDeviceToHost));
    return host[0] == value && host[kCount - 1] == value;
  }

  ~Setting() {
    check(cudaDeviceSynchronize());
    check(cudaFree(x));
    check(cudaFree(y));
    check(cudaEventDestroy(event));
    check(cudaStreamDestroy(one));
    check(cudaStreamDestroy(other));
  }
};

void producer_and_consumer() {
  Setting s;
  fill<<<kCount / 256, 256, 0, s.one>>>(s.x, 3);  // OTHER
  if (mended) {
    check(cudaEventRecord(s.event, s.one));
    check(cudaStreamWaitEvent(s.other, s.event));
  }
  twice<<<kCount / 256, 256, 0, s.other>>>(s.x, s.y);  // BUG: missing-sync
  expect(s.holds(s.y, 6));
}

void event_of_the_wrong_stream() {
  Setting s;
  fill<<<kCount / 256, 256, 0, s.one>>>(s.x, 3);  // OTHER
  check(cudaEventRecord(s.event, mended ? s.one : s.other));
  check(cudaStreamWaitEvent(s.other, s.event));
  twice<<<kCount / 256, 256, 0, s.other>>>(s.x, s.y);  // BUG: missing-sync
  expect(s.holds(s.y, 6));
}

void event_recorded_too_late() {
  Setting s;
  fill<<<kCount / 256, 256, 0, s.one>>>(s.x, 3);  // OTHER
  if (mended) check(cudaEventRecord(s.event, s.one));
  check(cudaStreamWaitEvent(s.other, s.event));
  if (!mended) check(cudaEventRecord(s.event, s.one));
  twice<<<kCount / 256, 256, 0, s.other>>>(s.x, s.y);  // BUG: missing-sync
  expect(s.holds(s.y, 6));
}

void copy_beside_kernel() {
  Setting s;
  float* host;
  check(cudaMallocHost(&host, kBytes));
  fill<<<kCount / 256, 256, 0, s.one>>>(s.x, 3);  // OTHER
  check(cudaMemcpyAsync(host, s.x, kBytes, cudaMemcpyDeviceToHost, mended ? s.one : s.other));  // BUG: missing-sync
  check(cudaDeviceSynchronize());
  expect(host[0] == 3);
  check(cudaFreeHost(host));
}

// The next data are sent while the kernel may still read those before.
void buffer_used_again() {
  Setting s;
  float* host;
  check(cudaMallocHost(&host, kBytes));
  for (int i = 0; i < kCount; ++i) host[i] = 4;
  check(cudaMemcpyAsync(s.x, host, kBytes, cudaMemcpyHostToDevice, s.one));
  check(cudaEventRecord(s.event, s.one));
  check(cudaStreamWaitEvent(s.other, s.event));
  twice<<<kCount / 256, 256, 0, s.other>>>(s.x, s.y);  // OTHER
  if (mended) {
    check(cudaEventRecord(s.event, s.other));
    check(cudaStreamWaitEvent(s.one, s.event));
  }
  check(cudaMemsetAsync(s.x, 0, kBytes, s.one));  // BUG: missing-sync
  expect(s.holds(s.y, 8));
  check(cudaFreeHost(host));
}

// The plain cudaMemcpy waits for the default stream, which does not wait for this one.
void beside_the_default_stream() {
  Setting s(cudaStreamNonBlocking);
  static float host[kCount];
  fill<<<kCount / 256, 256, 0, s.one>>>(s.x, 3);  // BUG: missing-sync
  if (mended) check(cudaStreamSynchronize(s.one));
  check(cudaMemcpy(host, s.x, kBytes, cudaMemcpyDeviceToHost));  // OTHER
  expect(host[0] == 3);
}

// Two branches of one graph, of which one needs what the other makes.
void branches_of_a_graph() {
  Setting s;
  cudaGraph_t graph;
  cudaGraphExec_t runnable;
  check(cudaStreamBeginCapture(s.one, cudaStreamCaptureModeGlobal));
  if (!mended) check(cudaEventRecord(s.event, s.one));
  fill<<<kCount / 256, 256, 0, s.one>>>(s.x, 3);  // OTHER
  if (mended) check(cudaEventRecord(s.event, s.one));
  check(cudaStreamWaitEvent(s.other, s.event));
  twice<<<kCount / 256, 256, 0, s.other>>>(s.x, s.y);  // BUG: missing-sync
  check(cudaEventRecord(s.event, s.other));
  check(cudaStreamWaitEvent(s.one, s.event));
  check(cudaStreamEndCapture(s.one, &graph));
  check(cudaGraphInstantiate(&runnable, graph, 0));
  check(cudaGraphLaunch(runnable, s.one));
  expect(s.holds(s.y, 6));
  check(cudaGraphExecDestroy(runnable));
  check(cudaGraphDestroy(graph));
}

// Each thread of the host has a default stream of its own here, and they do not wait for each other.
void threads_with_their_own_streams() {
  Setting s;
  const auto fill_in_own_stream = [](float* x) {
    fill<<<kCount / 256, 256, 0, cudaStreamPerThread>>>(x, 1);  // BUG: missing-sync // OTHER
  };
  std::thread first(fill_in_own_stream, s.x), second(fill_in_own_stream, mended ? s.y : s.x);
  first.join();
  second.join();
}

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(producer_and_consumer), NAMED(event_of_the_wrong_stream), NAMED(event_recorded_too_late),
                    NAMED(copy_beside_kernel), NAMED(buffer_used_again), NAMED(beside_the_default_stream),
                    NAMED(branches_of_a_graph), NAMED(threads_with_their_own_streams)});
}
