// CUDA graphs by stream capture: work is written down once, then launched again and again.
#include "expect.h"

constexpr int kCount = 256;

__global__ void add(int* values, int amount) { values[threadIdx.x] += amount; }
__global__ void multiply(int* values, int factor) { values[threadIdx.x] *= factor; }

void CUDART_CB count_up(void* counter) { ++*static_cast<int*>(counter); }

int main() {
  int *values, *copy;
  MUST(cudaMalloc(&values, kCount * sizeof(int)));
  MUST(cudaMallocHost(&copy, kCount * sizeof(int)));
  MUST(cudaMemset(values, 0, kCount * sizeof(int)));
  cudaStream_t stream, side;
  MUST(cudaStreamCreate(&stream));
  MUST(cudaStreamCreate(&side));
  cudaEvent_t fork, join;
  MUST(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  MUST(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  int* other;
  MUST(cudaMalloc(&other, kCount * sizeof(int)));
  int calls = 0;

  // values = (values + 1) · 2, then to the host; beside it, in another stream, `other` is filled with ones.
  cudaStreamCaptureStatus status;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaStreamIsCapturing(stream, &status));
  expect(status == cudaStreamCaptureStatusActive, "the stream is being captured");
  MUST(cudaEventRecord(fork, stream));
  MUST(cudaStreamWaitEvent(side, fork, 0));
  MUST(cudaMemsetAsync(other, 0, kCount * sizeof(int), side));
  add<<<1, kCount, 0, side>>>(other, 1);
  MUST(cudaEventRecord(join, side));
  add<<<1, kCount, 0, stream>>>(values, 1);
  multiply<<<1, kCount, 0, stream>>>(values, 2);
  MUST(cudaMemcpyAsync(copy, values, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  MUST(cudaLaunchHostFunc(stream, count_up, &calls));
  MUST(cudaStreamWaitEvent(stream, join, 0));
  cudaGraph_t graph;
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaStreamIsCapturing(stream, &status));
  expect(status == cudaStreamCaptureStatusNone, "now it is not");
  std::size_t nodes = 0;
  MUST(cudaGraphGetNodes(graph, nullptr, &nodes));
  std::printf("%zu nodes\n", nodes);

  int first;
  MUST(cudaMemcpy(&first, values, sizeof first, cudaMemcpyDeviceToHost));
  expect(first == 0 && calls == 0, "what is captured is not done");
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  for (int launch = 0; launch < 3; ++launch) MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  std::printf("after three launches: %d %d, %d calls\n", copy[0], copy[kCount - 1], calls);
  MUST(cudaMemcpy(&first, other, sizeof first, cudaMemcpyDeviceToHost));
  expect(first == 1, "the other stream's part was done too");

  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  add<<<1, kCount, 0, stream>>>(values, 100);
  cudaGraph_t second;
  MUST(cudaStreamEndCapture(stream, &second));
  cudaGraphExec_t second_ready;
  MUST(cudaGraphInstantiateWithFlags(&second_ready, second, 0));
  MUST(cudaGraphLaunch(second_ready, stream));
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaStreamSynchronize(stream));
  std::printf("after two different ones: %d\n", copy[0]);

  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  expect_error(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported, "a captured stream is not waited for");
  cudaGraph_t broken = nullptr;
  expect_error(cudaStreamEndCapture(stream, &broken), cudaErrorStreamCaptureInvalidated, "and its capture is lost");

  // Calls that may wait for the GPU, while a stream is captured: the mode says whether they are allowed.
  const auto allocate_in = [&](cudaStreamCaptureMode mode) {
    void* more = nullptr;
    MUST(cudaStreamBeginCapture(stream, mode));
    const cudaError_t error = cudaMalloc(&more, 16);
    MUST(cudaStreamIsCapturing(stream, &status));
    const bool is_lost = status == cudaStreamCaptureStatusInvalidated;
    expect(is_lost == (error != cudaSuccess), "a capture is lost with the call that cannot be in it");
    if (cudaStreamEndCapture(stream, &broken) == cudaSuccess) MUST(cudaGraphDestroy(broken));
    if (error == cudaSuccess) MUST(cudaFree(more));
    return error;
  };
  expect_error(allocate_in(cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported, "not in a global one");
  expect_error(allocate_in(cudaStreamCaptureModeThreadLocal), cudaErrorStreamCaptureUnsupported, "not in the thread's");
  expect_error(allocate_in(cudaStreamCaptureModeRelaxed), cudaSuccess, "but in a relaxed one");
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  MUST(cudaThreadExchangeStreamCaptureMode(&mode));
  expect_error(allocate_in(cudaStreamCaptureModeGlobal), cudaSuccess, "or where the thread is relaxed");
  MUST(cudaThreadExchangeStreamCaptureMode(&mode));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  MUST(cudaEventRecord(fork, stream));
  expect_error(cudaEventQuery(fork), cudaErrorCapturedEvent, "an event of a capture has no state");
  expect_error(cudaStreamEndCapture(stream, &broken), cudaErrorStreamCaptureInvalidated, "to ask for it is too much");
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  expect_error(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported, "the GPU is not waited for meanwhile");
  expect_error(cudaStreamEndCapture(stream, &broken), cudaErrorStreamCaptureInvalidated, "which ends it as well");
  cudaGetLastError();
  MUST(cudaGraphExecDestroy(ready));
  MUST(cudaGraphExecDestroy(second_ready));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaGraphDestroy(second));
  MUST(cudaStreamDestroy(stream));
  return wrong;
}
