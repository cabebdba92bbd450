// c = a b, twice: with every thread on its own, and with tiles in shared memory. The kernels are those of the ladder
// `matmul`; what they are checked against is a sum in double on the CPU.
//
//   flashpath run 03_matrix_multiply.cu [-- M N K]
//   flashpath profile 03_matrix_multiply.cu
//
// On the virtual GPU times are lower bounds, which both kernels share: there the profile shows how they differ.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>
#include <vector>

#include <flashpath/kernels/matmul/naive.cu>
#include <flashpath/kernels/matmul/shared_tile.cu>

#include "check.cuh"

using Kernel = void (*)(int m, int n, int k, const float* a, const float* b, float* c);

// In double, row by row of b, as caches like it.
std::vector<double> product(int m, int n, int k, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c(std::size_t(m) * n);
  for (int i = 0; i < m; ++i) {
    for (int p = 0; p < k; ++p) {
      const double of_a = a[std::size_t(i) * k + p];
      for (int j = 0; j < n; ++j) c[std::size_t(i) * n + j] += of_a * b[std::size_t(p) * n + j];
    }
  }
  return c;
}

std::vector<float> absolute(std::vector<float> values) {
  for (float& x : values) x = std::abs(x);
  return values;
}

// Microseconds of a launch: the best of three, since the first one also loads the kernel and fills caches.
float best_time(Kernel kernel, int m, int n, int k, const float* a, const float* b, float* c) {
  const dim3 threads(32, 32);
  const int blocks = (m + 31) / 32 * ((n + 31) / 32);
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  float best = INFINITY;
  for (int run = 0; run < 3; ++run) {
    CHECK(cudaEventRecord(start));
    kernel<<<blocks, threads>>>(m, n, k, a, b, c);
    CHECK(cudaGetLastError());
    CHECK(cudaEventRecord(stop));
    CHECK(cudaEventSynchronize(stop));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
    best = std::min(best, milliseconds);
  }
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return 1000 * best;
}

int main(int argc, char** argv) {
  const int m = argc > 1 ? std::atoi(argv[1]) : 256;
  const int n = argc > 2 ? std::atoi(argv[2]) : 256;
  const int k = argc > 3 ? std::atoi(argv[3]) : 256;
  if (m < 1 || n < 1 || k < 1 || argc > 4) {
    std::fprintf(stderr, "usage: %s [M N K]\n", argv[0]);
    return 2;
  }
  const double flops = 2.0 * m * n * k;
  std::printf("c (%d, %d) = a (%d, %d) b (%d, %d): %.1f million FLOPs\n\n", m, n, m, k, k, n, flops / 1e6);

  std::mt19937 random(1);
  std::uniform_real_distribution<float> between(-1, 1);
  std::vector<float> a(std::size_t(m) * k), b(std::size_t(k) * n), c(std::size_t(m) * n);
  for (float& x : a) x = between(random);
  for (float& x : b) x = between(random);

  const auto begin = std::chrono::steady_clock::now();
  const std::vector<double> truth = product(m, n, k, a, b);
  const std::chrono::duration<double, std::micro> on_cpu = std::chrono::steady_clock::now() - begin;
  const std::vector<double> sizes = product(m, n, k, absolute(a), absolute(b));  // what roundings are relative to
  std::printf("%-16s %13s %10s %14s\n", "", "time", "GFLOP/s", "largest error");
  std::printf("%-16s %10.2f us %10.1f %14s\n", "CPU, in double", on_cpu.count(), flops / on_cpu.count() / 1e3, "-");

  float *device_a, *device_b, *device_c;
  CHECK(cudaMalloc(&device_a, a.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_b, b.size() * sizeof(float)));
  CHECK(cudaMalloc(&device_c, c.size() * sizeof(float)));
  CHECK(cudaMemcpy(device_a, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(device_b, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));

  const struct {
    const char* name;
    Kernel kernel;
  } variants[] = {{"naive", matmul_naive<float>}, {"shared memory", matmul_shared_tile<float>}};
  float times[2];
  int wrong = 0;
  for (int variant = 0; variant < 2; ++variant) {
    CHECK(cudaMemset(device_c, 0xff, c.size() * sizeof(float)));  // NaN: what is not written is wrong
    times[variant] = best_time(variants[variant].kernel, m, n, k, device_a, device_b, device_c);
    CHECK(cudaMemcpy(c.data(), device_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    double largest = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const double error = std::abs(c[i] - truth[i]);
      wrong += !(error <= k * std::ldexp(sizes[i], -24));  // more than k roundings can do, or NaN
      largest = std::max(largest, error);
    }
    std::printf("%-16s %10.2f us %10.1f %14.1e\n", variants[variant].name, times[variant],
                flops / times[variant] / 1e3, largest);
  }
  if (!is_virtual()) std::printf("\nshared memory is %.2f times as fast", times[0] / times[1]);
  std::printf("\n%d elements are wrong\n", wrong);
  tell_of_bounds(__FILE__);
  tell_of_host_code();

  CHECK(cudaFree(device_a));
  CHECK(cudaFree(device_b));
  CHECK(cudaFree(device_c));
  return wrong != 0;
}
