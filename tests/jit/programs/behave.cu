// A program that does what its first argument says: what `flashpath run` must pass on, it shows.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

__global__ void axpy(int n, float a, const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}

static int compute(int n) {
  std::vector<float> x(n, 1.0f), y(n, 2.0f);
  float *dx, *dy;
  cudaMalloc(&dx, n * sizeof(float));
  cudaMalloc(&dy, n * sizeof(float));
  cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  axpy<<<(n + 255) / 256, 256>>>(n, 3.0f, dx, dy);
  cudaMemcpy(y.data(), dy, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(dx);
  cudaFree(dy);
  float sum = 0;
  for (float each : y) sum += each;
  std::printf("%.0f\n", sum);
  return 0;
}

static void wait() {
  std::cout << "waiting" << std::endl;
  std::this_thread::sleep_for(std::chrono::seconds(60));
}

int main(int count, char** arguments) {
  const std::string wanted = count > 1 ? arguments[1] : "compute";
  if (wanted == "compute") return compute(1000);
  if (wanted == "exit") return std::atoi(arguments[2]);
  if (wanted == "arguments") {
    for (int at = 0; at < count; ++at) std::printf("%s\n", arguments[at]);
  }
  if (wanted == "echo") {
    std::string line;
    while (std::getline(std::cin, line)) std::cerr << line << '\n';
  }
  if (wanted == "crash") std::raise(SIGSEGV);
  if (wanted == "wait") wait();
  if (wanted == "stubborn") {
    std::signal(SIGTERM, SIG_IGN);
    std::signal(SIGINT, SIG_IGN);
    wait();
  }
  if (wanted == "device") {
    cudaDeviceProp properties;
    int devices;
    cudaGetDeviceProperties(&properties, 0);
    cudaGetDeviceCount(&devices);
    std::printf("%d × %s\n", devices, properties.name);
  }
}
