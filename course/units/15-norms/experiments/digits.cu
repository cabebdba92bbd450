// The variance of 4096 floats with a spread of 1 around some mean, by two formulas, beside the one in double.
#include <cstdio>
#include <cuda_runtime.h>
#include <random>
#include <vector>

constexpr int kThreads = 256;

// The sum over the block, for every thread of it.
__device__ float block_sum(float value) {
  __shared__ float of_warp[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(0xffffffff, value, distance);
  }
  __syncthreads();  // an earlier call has been read
  if (threadIdx.x % 32 == 0) {
    of_warp[threadIdx.x / 32] = value;
  }
  __syncthreads();
  float total = 0.0f;
  for (int w = 0; w < kThreads / 32; ++w) {
    total += of_warp[w];
  }
  return total;
}

// out[0]: the mean of the squares less the square of the mean; out[1]: the mean of (x - mean)².
__global__ void variances(int n, const float* x, float* out) {
  float sum = 0.0f, squares = 0.0f, apart = 0.0f;
  for (int i = threadIdx.x; i < n; i += kThreads) {
    sum += x[i];
    squares += x[i] * x[i];
  }
  const float mean = block_sum(sum) / n;
  squares = block_sum(squares);
  for (int i = threadIdx.x; i < n; i += kThreads) {
    apart += (x[i] - mean) * (x[i] - mean);
  }
  apart = block_sum(apart);
  if (threadIdx.x == 0) {
    out[0] = squares / n - mean * mean;
    out[1] = apart / n;
  }
}

int main() {
  constexpr int n = 4096;
  std::printf("    mean   squares less square   distances   in double\n");
  for (float mean : {0.0f, 10.0f, 100.0f, 1000.0f, 10000.0f}) {
    std::mt19937 random(1);
    std::normal_distribution<float> spread;
    std::vector<float> x(n);
    for (float& each : x) {
      each = mean + spread(random);
    }
    double total = 0, squares = 0;
    for (float each : x) {
      total += each;
    }
    for (float each : x) {
      squares += (each - total / n) * (each - total / n);
    }

    float *device_x, *device_out, out[2];
    if (cudaMalloc(&device_x, n * sizeof(float)) != cudaSuccess || cudaMalloc(&device_out, sizeof(out)) != cudaSuccess) {
      return 1;
    }
    cudaMemcpy(device_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    variances<<<1, kThreads>>>(n, device_x, device_out);
    if (cudaMemcpy(out, device_out, sizeof(out), cudaMemcpyDeviceToHost) != cudaSuccess) {
      return 1;
    }
    std::printf("%8.0f %21.6f %11.6f %11.6f\n", mean, out[0], out[1], squares / n);
    cudaFree(device_x);
    cudaFree(device_out);
  }
  return 0;
}
