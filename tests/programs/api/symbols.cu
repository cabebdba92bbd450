// Variables of the device, which the host names as if they were its own.
#include "expect.h"

__constant__ float coefficients[4];
__constant__ int fixed = 7;  // said where it is written
__device__ int counter = 100;
__device__ double table[8] = {1, 2, 4, 8};  // the rest are zeros
__managed__ int both = 5;  // host and device use the same one
__device__ const char* greeting = "hello";

__global__ void evaluate(const float* x, float* y, int count) {
  const int k = threadIdx.x;
  if (k < count) y[k] = ((coefficients[3] * x[k] + coefficients[2]) * x[k] + coefficients[1]) * x[k] + coefficients[0];
  atomicAdd(&counter, fixed);
  if (k == 0) both += greeting[1];
}

__global__ void double_all(double* values) { values[threadIdx.x] *= 2; }

int main() {
  const float host[4] = {1, 2, 3, 4};
  MUST(cudaMemcpyToSymbol(coefficients, host, sizeof host));
  float *x, *y;
  MUST(cudaMallocManaged(&x, 5 * sizeof(float)));
  MUST(cudaMallocManaged(&y, 5 * sizeof(float)));
  for (int k = 0; k < 5; ++k) x[k] = k;
  evaluate<<<1, 5>>>(x, y, 5);
  MUST(cudaDeviceSynchronize());
  std::printf("1 + 2x + 3x² + 4x³: %g %g %g %g %g\n", y[0], y[1], y[2], y[3], y[4]);
  expect(both == 5 + 'e', "a managed variable");

  int counted = 0;
  MUST(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
  expect(counted == 100 + 5 * 7, "variables keep what they were given and what kernels wrote");

  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  const float last = 0;
  MUST(cudaMemcpyToSymbolAsync(coefficients, &last, sizeof last, 3 * sizeof(float), cudaMemcpyHostToDevice, stream));
  evaluate<<<1, 5, 0, stream>>>(x, y, 5);
  MUST(cudaMemcpyFromSymbolAsync(&counted, counter, sizeof counted, 0, cudaMemcpyDeviceToHost, stream));
  MUST(cudaStreamSynchronize(stream));
  std::printf("1 + 2x + 3x²: %g %g %g %g %g\n", y[0], y[1], y[2], y[3], y[4]);
  expect(counted == 170, "in a stream as well");

  double* address;
  std::size_t size = 0;
  MUST(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), table));
  MUST(cudaGetSymbolSize(&size, table));
  expect(size == 8 * sizeof(double), "the size of a variable");
  double_all<<<1, 8>>>(address);
  double doubled[8];
  MUST(cudaMemcpyFromSymbol(doubled, table, sizeof doubled));
  expect(doubled[0] == 2 && doubled[3] == 16 && doubled[4] == 0, "a kernel uses its address");
  double half[4];
  MUST(cudaMemcpyFromSymbol(half, table, sizeof half, 2 * sizeof(double)));
  expect(half[0] == 8 && half[1] == 16 && half[2] == 0, "a part of it is read");
  MUST(cudaMemcpy(doubled, address + 1, sizeof(double), cudaMemcpyDeviceToHost));
  expect(doubled[0] == 4, "it is memory like other memory");
  expect_error(cudaMemcpyFromSymbol(doubled, table, sizeof doubled, sizeof(double)), cudaErrorInvalidValue,
               "nothing is read beyond its end");
  const int host_variable = 0;
  expect_error(cudaMemcpyFromSymbol(&counted, host_variable, sizeof counted), cudaErrorInvalidSymbol,
               "a variable of the host is none of the device");
  MUST(cudaStreamDestroy(stream));
  MUST(cudaFree(x));
  MUST(cudaFree(y));
  return wrong;
}
