// Many short kernels, launched one by one and as a graph: captured once from a stream, replayed with one call.
//
//   flashpath run 09_cuda_graphs.cu [-- LAUNCHES]
//
// Measured is the time of the host and of the GPU together, by the host's clock: launches are what the host is busy
// with. On the virtual GPU that is the time of the virtual GPU, and says nothing about a real one.
#include <chrono>
#include <cmath>
#include <vector>

#include "check.cuh"

__global__ void advance(int n, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = x[i] * 0.5f + 1.0f;
}

constexpr int kElements = 1 << 12;

void launch_all(int launches, float* x, cudaStream_t stream) {
  for (int i = 0; i < launches; ++i) {
    advance<<<kElements / 256, 256, 0, stream>>>(kElements, x);
    CHECK(cudaGetLastError());
  }
}

template <class Work>
double milliseconds_of(Work work, cudaStream_t stream) {
  const auto start = std::chrono::steady_clock::now();
  work();
  CHECK(cudaStreamSynchronize(stream));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 200;
  if (launches < 1 || argc > 2) {
    std::fprintf(stderr, "usage: %s [LAUNCHES]\n", argv[0]);
    return 2;
  }
  std::vector<float> host(kElements);
  for (int i = 0; i < kElements; ++i) host[i] = float(i);
  float* x;
  cudaStream_t stream;
  CHECK(cudaMalloc(&x, kElements * sizeof(float)));
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpyAsync(x, host.data(), kElements * sizeof(float), cudaMemcpyHostToDevice, stream));

  cudaGraph_t graph;
  cudaGraphExec_t replayable;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch_all(launches, x, stream);  // recorded, not run
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiate(&replayable, graph, 0));

  double one_by_one = INFINITY, as_graph = INFINITY;
  const int runs = 3;
  for (int run = 0; run < runs; ++run) {
    one_by_one = std::fmin(one_by_one, milliseconds_of([&] { launch_all(launches, x, stream); }, stream));
    as_graph = std::fmin(as_graph, milliseconds_of([&] { CHECK(cudaGraphLaunch(replayable, stream)); }, stream));
  }
  for (float& value : host) {
    for (int i = 0; i < 2 * runs * launches; ++i) value = value * 0.5f + 1.0f;
  }
  std::vector<float> found(kElements);
  CHECK(cudaMemcpy(found.data(), x, kElements * sizeof(float), cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int i = 0; i < kElements; ++i) wrong += found[i] != host[i];

  std::printf("%d launches of a short kernel\n\n", launches);
  std::printf("one by one %10.3f ms, %6.2f us each\n", one_by_one, 1000 * one_by_one / launches);
  std::printf("as a graph %10.3f ms, %6.2f us each\n", as_graph, 1000 * as_graph / launches);
  std::printf("\n%d elements are wrong\n", wrong);
  CHECK(cudaGraphExecDestroy(replayable));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
  return wrong != 0;
}
