// y = -x: the five steps of a program around a kernel, every one checked.
//
//   flashpath run five_steps.cu
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                              \
  do {                                                           \
    const cudaError_t error = (call);                            \
    if (error != cudaSuccess) {                                  \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,    \
                   cudaGetErrorString(error));                   \
      std::exit(1);                                              \
    }                                                            \
  } while (0)

__global__ void negate(int n, const double* x, double* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = -x[i];
}

int main() {
  const int n = 1000;
  double x[n], y[n], *device_x, *device_y;
  for (int i = 0; i < n; ++i) x[i] = i;

  CHECK(cudaMalloc(&device_x, sizeof x));
  CHECK(cudaMalloc(&device_y, sizeof y));
  CHECK(cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice));
  negate<<<(n + 127) / 128, 128>>>(n, device_x, device_y);
  CHECK(cudaGetLastError());  // was the launch accepted?
  CHECK(cudaMemcpy(y, device_y, sizeof y, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(device_x));
  CHECK(cudaFree(device_y));
  std::printf("y[999] = %g\n", y[999]);
  return 0;
}
