// The ways to launch a kernel, and what a launch carries along.
#include <vector>

#include "expect.h"

struct Line {
  char letter;
  double slope;
  short offset;
};

// Arguments of all sizes, which the compiler lays out with gaps.
__global__ void draw(char before, Line line, const float* x, float* y, short count, bool is_negative) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k >= count) return;
  const double value = line.slope * x[k] + line.offset + before + line.letter;
  y[k] = static_cast<float>(is_negative ? -value : value);
}

__global__ void number_threads(unsigned* numbers) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  numbers[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}

__global__ void reverse(int* values) {
  extern __shared__ int turned[];
  turned[blockDim.x - 1 - threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = turned[threadIdx.x];
}

bool is_drawn(const float* y) {
  for (int k = 0; k < 300; ++k) {
    if (y[k] != -(2.5f * k + 7 + 1 + 2)) return false;
  }
  return true;
}

int main() {
  float *x, *y;
  MUST(cudaMallocManaged(&x, 300 * sizeof(float)));
  MUST(cudaMallocManaged(&y, 300 * sizeof(float)));
  for (int k = 0; k < 300; ++k) x[k] = k;
  const Line line{2, 2.5, 7};
  draw<<<3, 128>>>(1, line, x, y, 300, true);
  MUST(cudaDeviceSynchronize());
  expect(is_drawn(y), "<<<…>>>");

  char before = 1;
  Line same = line;
  const float* from = x;
  float* to = y;
  short count = 300;
  bool is_negative = true;
  void* arguments[] = {&before, &same, &from, &to, &count, &is_negative};
  MUST(cudaMemset(y, 0, 300 * sizeof(float)));
  MUST(cudaLaunchKernel(draw, dim3(3), dim3(128), arguments, 0, nullptr));
  MUST(cudaDeviceSynchronize());
  expect(is_drawn(y), "cudaLaunchKernel");

  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  cudaLaunchAttribute priority;
  priority.id = cudaLaunchAttributePriority;
  priority.val.priority = 0;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(3);
  config.blockDim = dim3(128);
  config.stream = stream;
  config.attrs = &priority;
  config.numAttrs = 1;
  MUST(cudaMemset(y, 0, 300 * sizeof(float)));
  MUST(cudaLaunchKernelEx(&config, draw, before, line, from, to, count, is_negative));
  MUST(cudaStreamSynchronize(stream));
  expect(is_drawn(y), "cudaLaunchKernelEx");
  MUST(cudaMemset(y, 0, 300 * sizeof(float)));
  MUST(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(draw), arguments));
  MUST(cudaStreamSynchronize(stream));
  expect(is_drawn(y), "cudaLaunchKernelExC");

  const dim3 grid(3, 2, 2), block(4, 3, 2);
  unsigned* numbers;
  MUST(cudaMallocManaged(&numbers, 12 * 24 * sizeof(unsigned)));
  number_threads<<<grid, block>>>(numbers);
  MUST(cudaDeviceSynchronize());
  bool in_order = true;
  for (unsigned k = 0; k < 12 * 24; ++k) in_order = in_order && numbers[k] == k / 24 * 1000 + k % 24;
  expect(in_order, "grids and blocks in three dimensions");

  int* values;
  MUST(cudaMallocManaged(&values, 100 * sizeof(int)));
  for (int k = 0; k < 100; ++k) values[k] = k;
  reverse<<<1, 100, 100 * sizeof(int), stream>>>(values);
  MUST(cudaStreamSynchronize(stream));
  expect(values[0] == 99 && values[42] == 57 && values[99] == 0, "shared memory whose size the launch says");

  MUST(cudaStreamDestroy(stream));
  MUST(cudaFree(x));
  MUST(cudaFree(y));
  MUST(cudaFree(numbers));
  MUST(cudaFree(values));
  return wrong;
}
