// Four chunks are copied in, computed and copied out, in one of five ways, of which 4 overlaps.
//
//   flashpath run pipeline.cu --device A100 --timeline pipeline.html -- WAY
#include <cstdio>
#include <cstdlib>

#define CHECK(call) \
  if (const cudaError_t error = (call)) return std::fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(error)), 1

__global__ void halve(int n, int steps, double* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double value = x[i];
  for (int step = 0; step < steps; ++step) value = fma(value, 0.5, 1.0);
  x[i] = value;
}

int main(int argc, char** argv) {
  const int way = argc > 1 ? std::atoi(argv[1]) : 0;
  const bool has_streams = way > 0;         // 0: all in the default stream
  const bool is_pageable = way == 1;        // 1: memory of malloc
  const bool waits = way == 2;              // 2: the host waits for each chunk
  const bool in_default_stream = way == 3;  // 3: kernels in the default stream
  const int chunks = 4, n = 8192, steps = 900;
  const std::size_t bytes = n * sizeof(double);
  double *host, *device;
  if (is_pageable) {
    host = static_cast<double*>(std::malloc(chunks * bytes));
  } else {
    CHECK(cudaMallocHost(&host, chunks * bytes));
  }
  CHECK(cudaMalloc(&device, chunks * bytes));
  for (int i = 0; i < chunks * n; ++i) host[i] = i;
  cudaStream_t streams[3] = {};
  if (has_streams) {
    for (cudaStream_t& stream : streams) CHECK(cudaStreamCreate(&stream));
  }

  for (int c = 0; c < chunks; ++c) {
    double *from = host + c * n, *to = device + c * n;
    cudaStream_t stream = streams[c % 3];
    CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream));
    halve<<<n / 256, 256, 0, in_default_stream ? nullptr : stream>>>(n, steps, to);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(from, to, bytes, cudaMemcpyDeviceToHost, stream));
    if (waits) CHECK(cudaStreamSynchronize(stream));
  }
  CHECK(cudaDeviceSynchronize());

  std::printf("way %d: host[9] = %g\n", way, host[9]);
  if (has_streams) {
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  }
  CHECK(cudaFree(device));
  if (is_pageable) {
    std::free(host);
  } else {
    CHECK(cudaFreeHost(host));
  }
  return 0;
}
