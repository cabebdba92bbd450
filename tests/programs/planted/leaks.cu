// Memory that is never given back.
#include "planted.h"

constexpr int kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(float);

__global__ void fill(float* x, int n, float value) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value;
}

void fill_and_wait(float* x) {
  fill<<<(kCount + 255) / 256, 256>>>(x, kCount, 1);
  check(cudaGetLastError());
  check(cudaDeviceSynchronize());
}

void device() {
  float* x;
  check(cudaMalloc(&x, kBytes));  // BUG: leak
  fill_and_wait(x);
  if (mended) check(cudaFree(x));
}

void pinned() {
  float* x;
  check(cudaMallocHost(&x, kBytes));  // BUG: leak
  fill_and_wait(x);
  expect(x[kCount - 1] == 1);
  if (mended) check(cudaFreeHost(x));
}

void managed() {
  float* x;
  check(cudaMallocManaged(&x, kBytes));  // BUG: leak
  fill_and_wait(x);
  expect(x[kCount - 1] == 1);
  if (mended) check(cudaFree(x));
}

void pitched() {
  float* x;
  size_t pitch;
  check(cudaMallocPitch(&x, &pitch, 10 * sizeof(float), 100));  // BUG: leak
  check(cudaMemset2D(x, pitch, 0, 10 * sizeof(float), 100));
  check(cudaDeviceSynchronize());
  if (mended) check(cudaFree(x));
}

void registered() {
  float* x = new float[kCount];
  check(cudaHostRegister(x, kBytes, cudaHostRegisterDefault));  // BUG: leak
  fill_and_wait(x);
  if (mended) check(cudaHostUnregister(x));
  delete[] x;
}

void of_stream() {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  float* x;
  check(cudaMallocAsync(&x, kBytes, stream));  // BUG: leak
  fill<<<(kCount + 255) / 256, 256, 0, stream>>>(x, kCount, 1);
  if (mended) check(cudaFreeAsync(x, stream));
  check(cudaStreamSynchronize(stream));
  check(cudaStreamDestroy(stream));
}

// The pointer to the first array is overwritten by that to the second.
void overwritten_pointer() {
  float* x;
  check(cudaMalloc(&x, kBytes));  // BUG: leak
  fill_and_wait(x);
  if (mended) check(cudaFree(x));
  check(cudaMalloc(&x, 2 * kBytes));
  fill_and_wait(x);
  check(cudaFree(x));
}

float first_if_positive(float* host) {
  float* x;
  check(cudaMalloc(&x, kBytes));  // BUG of early_return: leak
  check(cudaMemcpy(x, host, kBytes, cudaMemcpyHostToDevice));
  if (!mended && host[0] < 0) return 0;
  fill_and_wait(x);
  check(cudaMemcpy(host, x, kBytes, cudaMemcpyDeviceToHost));
  check(cudaFree(x));
  return host[0];
}

void early_return() {
  float host[kCount] = {-1};
  expect(first_if_positive(host) == 1);
}

class WithoutDestructor {
 public:
  explicit WithoutDestructor(int count) {
    check(cudaMalloc(&data_, count * sizeof(float)));  // BUG of class_without_destructor: leak
  }
  float* data() { return data_; }

 private:
  float* data_ = nullptr;
};

class WithDestructor : public WithoutDestructor {
 public:
  using WithoutDestructor::WithoutDestructor;
  ~WithDestructor() { check(cudaFree(data())); }
};

template <class Array>
void use_array() {
  Array array(kCount);
  fill_and_wait(array.data());
}

void class_without_destructor() { mended ? use_array<WithDestructor>() : use_array<WithoutDestructor>(); }

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(device), NAMED(pinned), NAMED(managed), NAMED(pitched), NAMED(registered), NAMED(of_stream),
                    NAMED(overwritten_pointer), NAMED(early_return), NAMED(class_without_destructor)});
}
