// Sizes beyond all memory, and handles that are none: calls fail, and nothing else happens.
#include "expect.h"

int main() {
  void* pointer = nullptr;
  size_t pitch = 7;
  expect_error(cudaMallocPitch(&pointer, &pitch, 1ull << 40, 1ull << 40), cudaErrorMemoryAllocation, "2^80 bytes");
  expect_error(cudaMallocPitch(&pointer, &pitch, ~0ull, 1), cudaErrorMemoryAllocation, "a row that has no pitch");
  cudaPitchedPtr pitched;
  expect_error(cudaMalloc3D(&pitched, make_cudaExtent(~0ull, ~0ull, ~0ull)), cudaErrorMemoryAllocation, "a huge box");
  expect(pitch == 7 && pointer == nullptr, "nothing is given");

  static char own[64];
  expect_error(cudaHostRegister(own, ~0ull, 0), cudaErrorInvalidValue, "memory to the end of all addresses");
  expect_error(cudaHostRegister(own, 1ull << 45, 0), cudaErrorInvalidValue, "memory with holes");

  char* bytes;
  MUST(cudaMalloc(&bytes, 1024));
  expect_error(cudaMemset2D(bytes, 1ull << 40, 0, 1, 1ull << 30), cudaErrorInvalidValue, "rows far apart");
  expect_error(cudaMemset2D(bytes, 1ull << 32, 0, 1ull << 32, 1ull << 32), cudaErrorInvalidValue, "2^64 bytes");
  MUST(cudaFree(bytes));

  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaGraph_t graph, clone;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t ready;
  MUST(cudaGraphInstantiate(&ready, graph, 0));
  MUST(cudaGraphDestroy(graph));
  expect_error(cudaGraphDestroy(graph), cudaErrorInvalidValue, "a graph is destroyed twice");
  expect_error(cudaGraphClone(&clone, graph), cudaErrorInvalidValue, "and not cloned then");
  const auto bogus = reinterpret_cast<cudaGraph_t>(0x5);
  cudaGraphExec_t other;
  expect_error(cudaGraphInstantiate(&other, bogus, 0), cudaErrorInvalidValue, "a number is no graph");
  MUST(cudaGraphLaunch(ready, stream));
  MUST(cudaGraphExecDestroy(ready));
  expect_error(cudaGraphLaunch(ready, stream), cudaErrorInvalidValue, "what was destroyed is not launched");
  expect_error(cudaGraphExecDestroy(ready), cudaErrorInvalidValue, "nor destroyed again");
  cudaGraphNodeType type;
  expect_error(cudaGraphNodeGetType(reinterpret_cast<cudaGraphNode_t>(0x5), &type), cudaErrorInvalidValue,
               "a number is no node");
  MUST(cudaStreamDestroy(stream));
  return wrong;
}
