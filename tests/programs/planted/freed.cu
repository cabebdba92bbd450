// Memory that is used, or freed, after it was freed.
#include "planted.h"

constexpr int kCount = 1024;
constexpr size_t kBytes = kCount * sizeof(float);

__global__ void scale(float* x, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= factor;  // BUG of kernel_after_free: use-after-free
}

__global__ void fill(float* x, float value) {
  x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

float* new_array() {
  float* x;
  check(cudaMalloc(&x, kBytes));
  check(cudaMemset(x, 0, kBytes));
  return x;
}

void copy_after_free() {
  static float host[kCount];
  float* x = new_array();
  if (!mended) check(cudaFree(x));  // OTHER
  cudaMemcpy(host, x, kBytes, cudaMemcpyDeviceToHost);  // BUG: use-after-free
  if (mended) check(cudaFree(x));
}

void fill_after_free() {
  float* x = new_array();
  if (!mended) check(cudaFree(x));  // OTHER
  cudaMemset(x, 0, kBytes);  // BUG: use-after-free
  if (mended) check(cudaFree(x));
}

void kernel_after_free() {
  float* x = new_array();
  if (!mended) check(cudaFree(x));
  scale<<<kCount / 256, 256>>>(x, 2);  // OTHER
  check(cudaDeviceSynchronize());
  if (mended) check(cudaFree(x));
}

void freed_twice() {
  float* x = new_array();
  float* y = x;
  check(cudaFree(x));  // OTHER
  if (mended) y = nullptr;
  cudaFree(y);  // BUG: use-after-free
}

void freed_twice_in_stream() {
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));
  float* x;
  check(cudaMallocAsync(&x, kBytes, stream));
  check(cudaFreeAsync(x, stream));  // OTHER
  check(cudaStreamSynchronize(stream));
  if (!mended) cudaFreeAsync(x, stream);  // BUG: use-after-free
  check(cudaStreamDestroy(stream));
}

void pinned_freed_twice() {
  float* x;
  check(cudaMallocHost(&x, kBytes));
  check(cudaFreeHost(x));  // OTHER
  if (!mended) cudaFreeHost(x);  // BUG: use-after-free
}

void host_reads_freed_pinned() {
  float* x;
  check(cudaMallocHost(&x, kBytes));
  fill<<<kCount / 256, 256>>>(x, 1);
  check(cudaDeviceSynchronize());
  if (!mended) check(cudaFreeHost(x));  // OTHER
  std::printf("%g\n", x[7]);  // BUG: use-after-free
  if (mended) check(cudaFreeHost(x));
}

void host_writes_freed_managed() {
  float* x;
  check(cudaMallocManaged(&x, kBytes));
  if (!mended) check(cudaFree(x));  // OTHER
  x[0] = 1;  // BUG: use-after-free
  if (mended) check(cudaFree(x));
}

// Frees of a stream take their turn: nothing says that the kernel of the other stream comes before.
void freed_in_another_stream() {
  cudaStream_t one, other;
  check(cudaStreamCreate(&one));
  check(cudaStreamCreate(&other));
  float* x;
  check(cudaMallocAsync(&x, kBytes, one));
  check(cudaStreamSynchronize(one));
  fill<<<kCount / 256, 256, 0, other>>>(x, 1);  // OTHER
  check(cudaGetLastError());
  check(cudaFreeAsync(x, mended ? other : one));  // BUG: missing-sync
  check(cudaDeviceSynchronize());
  check(cudaStreamDestroy(one));
  check(cudaStreamDestroy(other));
}

// The kernel comes after the free as the host has it, which no stream knows of.
void kernel_after_free_in_another_stream() {
  cudaStream_t one, other;
  check(cudaStreamCreate(&one));
  check(cudaStreamCreate(&other));
  float* x;
  check(cudaMallocAsync(&x, kBytes, one));
  check(cudaStreamSynchronize(one));
  if (!mended) check(cudaFreeAsync(x, one));  // BUG: missing-sync
  fill<<<kCount / 256, 256, 0, other>>>(x, 1);  // OTHER
  check(cudaStreamSynchronize(other));
  if (mended) check(cudaFreeAsync(x, one));
  check(cudaStreamSynchronize(one));
  check(cudaStreamDestroy(one));
  check(cudaStreamDestroy(other));
}

class Owner {
 public:
  Owner() { check(cudaMalloc(&data_, kBytes)); }
  ~Owner() { cudaFree(data_); }  // BUG of owner_copied: use-after-free // OTHER of owner_copied
  float* data() const { return data_; }

 private:
  float* data_ = nullptr;
};

void use_copy(Owner x) { check(cudaMemset(x.data(), 0, kBytes)); }
void use_reference(const Owner& x) { check(cudaMemset(x.data(), 0, kBytes)); }

// The copy has a destructor, too.
void owner_copied() {
  const Owner x;
  mended ? use_reference(x) : use_copy(x);
}

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(copy_after_free), NAMED(fill_after_free), NAMED(kernel_after_free), NAMED(freed_twice),
                    NAMED(freed_twice_in_stream), NAMED(pinned_freed_twice), NAMED(host_reads_freed_pinned),
                    NAMED(host_writes_freed_managed), NAMED(freed_in_another_stream),
                    NAMED(kernel_after_free_in_another_stream), NAMED(owner_copied)});
}
