// Copies whose direction contradicts their addresses.
#include "planted.h"

constexpr int kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(float);

float host[kCount];

float* new_array() {
  float* x;
  check(cudaMalloc(&x, kBytes));
  check(cudaMemset(x, 0, kBytes));
  return x;
}

void to_device_swapped() {
  float* x = new_array();
  const cudaMemcpyKind kind = mended ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  cudaMemcpy(x, host, kBytes, kind);  // BUG: wrong-direction
  check(cudaFree(x));
}

void to_host_swapped() {
  float* x = new_array();
  const cudaMemcpyKind kind = mended ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
  cudaMemcpy(host, x, kBytes, kind);  // BUG: wrong-direction
  check(cudaFree(x));
}

void device_to_device_with_host() {
  float* x = new_array();
  const cudaMemcpyKind kind = mended ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
  cudaMemcpy(host, x, kBytes, kind);  // BUG: wrong-direction
  check(cudaFree(x));
}

void host_to_host_with_device() {
  float* x = new_array();
  const cudaMemcpyKind kind = mended ? cudaMemcpyHostToDevice : cudaMemcpyHostToHost;
  cudaMemcpy(x, host, kBytes, kind);  // BUG: wrong-direction
  check(cudaFree(x));
}

void between_devices() {
  float *x = new_array(), *y = new_array();
  const cudaMemcpyKind kind = mended ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice;
  cudaMemcpy(x, y, kBytes, kind);  // BUG: wrong-direction
  check(cudaFree(x));
  check(cudaFree(y));
}

void rows() {
  float* x = new_array();
  const cudaMemcpyKind kind = mended ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
  cudaMemcpy2D(x, 40, host, 40, 40, 100, kind);  // BUG: wrong-direction
  check(cudaFree(x));
}

// Managed memory is both: every direction holds.
void managed() {
  float *x = new_array(), *y;
  check(cudaMallocManaged(&y, kBytes));
  for (const cudaMemcpyKind kind : {cudaMemcpyHostToDevice, cudaMemcpyDeviceToDevice, cudaMemcpyDefault}) {
    check(cudaMemcpy(x, y, kBytes, kind));
  }
  for (const cudaMemcpyKind kind : {cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault}) {
    check(cudaMemcpy(y, x, kBytes, kind));
  }
  check(cudaFree(x));
  check(cudaFree(y));
}

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(to_device_swapped), NAMED(to_host_swapped), NAMED(device_to_device_with_host),
                    NAMED(host_to_host_with_device), NAMED(between_devices), NAMED(rows), NAMED(managed)});
}
