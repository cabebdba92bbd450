// Times a kernel as learners do: with std::chrono around a synchronised launch, and with events. Times go to stderr.
#include <chrono>
#include <cstdio>
#include <vector>

__global__ void saxpy(float a, const float* x, float* y, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}

int main() {
  const int n = 1 << 18;
  std::vector<float> x(n, 1.0f), y(n, 2.0f);
  float *d_x, *d_y;
  cudaMalloc(&d_x, n * sizeof(float));
  cudaMalloc(&d_y, n * sizeof(float));
  cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_y, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);

  const auto begin = std::chrono::steady_clock::now();
  saxpy<<<128, 256>>>(3.0f, d_x, d_y, n);
  cudaDeviceSynchronize();
  const std::chrono::duration<double, std::milli> on_the_wall = std::chrono::steady_clock::now() - begin;

  cudaEvent_t start, stop;
  cudaEventCreate(&start);
  cudaEventCreate(&stop);
  cudaEventRecord(start);
  saxpy<<<128, 256>>>(3.0f, d_x, d_y, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, start, stop);
  std::fprintf(stderr, "on the wall %.3f ms, by events %.6f ms, %.0f GB/s\n", on_the_wall.count(), milliseconds,
               3.0 * n * sizeof(float) / milliseconds / 1e6);

  cudaMemcpy(y.data(), d_y, n * sizeof(float), cudaMemcpyDeviceToHost);
  std::printf("y[0] = %g, y[n - 1] = %g\n", y[0], y[n - 1]);
  std::printf("%s\n", milliseconds > 0 && on_the_wall.count() > 0 ? "it took time" : "it took no time at all");
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  cudaFree(d_x);
  cudaFree(d_y);
  return 0;
}
