// Ordinary memory at the ends of copies that are captured; and an event right behind one that was waited for.
#include "expect.h"

__global__ void twice(int* values) { values[threadIdx.x] *= 2; }

int main() {
  int from[32], to[32] = {}, *values;
  for (int k = 0; k < 32; ++k) from[k] = k;
  MUST(cudaMalloc(&values, sizeof from));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaMemcpyAsync(values, from, sizeof from, cudaMemcpyDefault, stream));
  twice<<<1, 32, 0, stream>>>(values);
  MUST(cudaMemcpyAsync(to, values, sizeof to, cudaMemcpyDefault, stream));
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  expect(to[21] == 0, "nothing is copied while it is captured");
  for (int round = 1; round <= 2; ++round) {
    MUST(cudaGraphLaunch(ready, stream));
    MUST(cudaStreamSynchronize(stream));
    expect(to[21] == 42 * round, "each launch copies what is there then");
    from[21] = 42;
  }
  MUST(cudaGraphExecDestroy(ready));
  MUST(cudaGraphDestroy(graph));

  cudaEvent_t start, done, stop;
  MUST(cudaEventCreate(&start));
  MUST(cudaEventCreate(&done));
  MUST(cudaEventCreate(&stop));
  MUST(cudaEventRecord(start, stream));
  twice<<<1, 32, 0, stream>>>(values);
  MUST(cudaEventRecord(done, stream));
  MUST(cudaEventRecord(stop, stream));
  MUST(cudaEventSynchronize(done));
  float milliseconds = -1;
  MUST(cudaEventElapsedTime(&milliseconds, start, stop));
  expect(milliseconds > 0, "nothing lies between the two events");
  MUST(cudaEventDestroy(start));
  MUST(cudaEventDestroy(done));
  MUST(cudaEventDestroy(stop));
  MUST(cudaStreamDestroy(stream));
  MUST(cudaFree(values));
  return wrong;
}
