// Events: marks in streams, which the host and other streams wait for, and the times between them.
#include "expect.h"

__global__ void fill(float* values, int count, float value) {
  for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < count; k += gridDim.x * blockDim.x) values[k] = value;
}

int main() {
  constexpr int kCount = 1 << 16;
  float* values;
  MUST(cudaMalloc(&values, kCount * sizeof(float)));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaEvent_t start, middle, stop, silent, unused;
  MUST(cudaEventCreate(&start));
  MUST(cudaEventCreateWithFlags(&middle, cudaEventBlockingSync));
  MUST(cudaEventCreate(&stop));
  MUST(cudaEventCreateWithFlags(&silent, cudaEventDisableTiming));
  MUST(cudaEventCreate(&unused));
  expect_error(cudaEventQuery(unused), cudaSuccess, "an event that was never recorded is done");
  expect_error(cudaEventSynchronize(unused), cudaSuccess, "and is not waited for");

  MUST(cudaEventRecord(start, stream));
  fill<<<16, 256, 0, stream>>>(values, kCount, 1.0f);
  MUST(cudaEventRecordWithFlags(middle, stream, cudaEventRecordDefault));
  fill<<<16, 256, 0, stream>>>(values, kCount, 2.0f);
  MUST(cudaEventRecord(silent, stream));
  MUST(cudaEventRecord(stop, stream));
  MUST(cudaEventSynchronize(stop));
  float first = -1, second = -1, both = -1, back = 1;
  MUST(cudaEventElapsedTime(&first, start, middle));
  MUST(cudaEventElapsedTime(&second, middle, stop));
  MUST(cudaEventElapsedTime(&both, start, stop));
  MUST(cudaEventElapsedTime(&back, stop, start));
  expect(first > 0 && second > 0 && both > 0, "kernels take time");
  expect(both >= first && both >= second, "two take longer than one");
  expect(back <= 0, "and backwards less than none");
  expect_error(cudaEventQuery(middle), cudaSuccess, "what came before is done as well");

  float none;
  expect_error(cudaEventElapsedTime(&none, start, silent), cudaErrorInvalidResourceHandle,
               "an event without a clock tells no time");
  expect_error(cudaEventElapsedTime(&none, start, unused), cudaErrorInvalidResourceHandle,
               "nor does one that was never recorded");

  // Recorded anew, an event means its last place.
  MUST(cudaEventRecord(start, stream));
  fill<<<16, 256, 0, stream>>>(values, kCount, 3.0f);
  MUST(cudaEventRecord(stop, stream));
  cudaError_t state;
  while ((state = cudaEventQuery(stop)) == cudaErrorNotReady) {
  }
  expect_error(state, cudaSuccess, "asked often enough, an event has happened");
  float last;
  MUST(cudaMemcpy(&last, values + kCount - 1, sizeof last, cudaMemcpyDeviceToHost));
  expect(last == 3.0f, "the kernel before it has run");

  for (cudaEvent_t each : {start, middle, stop, silent, unused}) MUST(cudaEventDestroy(each));
  MUST(cudaStreamDestroy(stream));
  MUST(cudaFree(values));
  return wrong;
}
