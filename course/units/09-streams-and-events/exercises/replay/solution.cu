// Advances two arrays round by round: x and y for themselves, then y into x.
//
//   flashpath run replay.cu --device A100 -- N ROUNDS
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error = (call);                                                             \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

__global__ void advance(int n, int factor, int* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (factor * x[i] + i) & 1023;
}

__global__ void mix(int n, int* x, const int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (x[i] + y[i]) & 1023;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 1000;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 10;
  const std::size_t bytes = n * sizeof(int);
  const int blocks = (n + 255) / 256;
  int *x, *y;
  CHECK(cudaMalloc(&x, bytes));
  CHECK(cudaMalloc(&y, bytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemsetAsync(x, 0, bytes, stream));
  CHECK(cudaMemsetAsync(y, 0, bytes, stream));
  cudaStream_t side;
  CHECK(cudaStreamCreate(&side));
  cudaEvent_t fork, join;
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));

  cudaGraph_t graph;
  cudaGraphExec_t round_graph;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaEventRecord(fork, stream));
  CHECK(cudaStreamWaitEvent(side, fork, 0));  // from here on side is recorded too
  advance<<<blocks, 256, 0, stream>>>(n, 3, x);
  CHECK(cudaGetLastError());
  advance<<<blocks, 256, 0, side>>>(n, 5, y);
  CHECK(cudaGetLastError());
  CHECK(cudaEventRecord(join, side));
  CHECK(cudaStreamWaitEvent(stream, join, 0));
  mix<<<blocks, 256, 0, stream>>>(n, x, y);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&round_graph, graph, 0));
  for (int round = 0; round < rounds; ++round) CHECK(cudaGraphLaunch(round_graph, stream));

  std::vector<int> host(n);
  CHECK(cudaMemcpyAsync(host.data(), x, bytes, cudaMemcpyDeviceToHost, stream));
  CHECK(cudaStreamSynchronize(stream));
  long long total = 0;
  for (int i = 0; i < n; ++i) total += host[i] * (i % 5 + 1ll);
  std::printf("total = %lld\n", total);
  CHECK(cudaGraphExecDestroy(round_graph));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventDestroy(fork));
  CHECK(cudaEventDestroy(join));
  CHECK(cudaStreamDestroy(side));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  return 0;
}
