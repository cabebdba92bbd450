// Sends n numbers through the GPU in chunks: copy in, `steps` steps for each number, copy out.
//
//   flashpath run overlap.cu --device A100 -- N CHUNKS STEPS
#include <algorithm>
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

// x → 3/4 x + 1, many times, goes to 4.
__global__ void settle(int n, int steps, const double* in, double* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i];
  for (int step = 0; step < steps; ++step) x = fma(x, 0.75, 1.0);
  out[i] = x;
}

int main(int argc, char** argv) {
  const int n = argc > 1 ? std::atoi(argv[1]) : 65536;
  const int chunks = argc > 2 ? std::atoi(argv[2]) : 16;
  const int steps = argc > 3 ? std::atoi(argv[3]) : 4;
  const int chunk = (n + chunks - 1) / chunks;
  const std::size_t bytes = n * sizeof(double);
  std::vector<double> in(n), out(n);
  double *device_in, *device_out;
  CHECK(cudaMalloc(&device_in, bytes));
  CHECK(cudaMalloc(&device_out, bytes));
  for (int i = 0; i < n; ++i) in[i] = i % 1000;

  // TODO: the result is right, but nothing overlaps. Three things prevent it.
  for (int c = 0; c < chunks; ++c) {
    const int first = c * chunk, count = std::min(chunk, n - first);
    if (count <= 0) break;
    CHECK(cudaMemcpyAsync(device_in + first, &in[first], count * sizeof(double), cudaMemcpyHostToDevice));
    settle<<<(count + 255) / 256, 256>>>(count, steps, device_in + first, device_out + first);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(&out[first], device_out + first, count * sizeof(double), cudaMemcpyDeviceToHost));
    CHECK(cudaDeviceSynchronize());
  }

  double total = 0;
  for (int i = 0; i < n; ++i) total += (i % 7 + 1) * out[i];
  std::printf("total = %.17g\n", total);
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return 0;
}
