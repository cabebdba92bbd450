// Copies and fills that go beyond the end of an array.
#include "planted.h"

constexpr int kCount = 1000;
constexpr size_t kBytes = kCount * sizeof(float);

float host[sizeof(float) * kCount];
__device__ float table[16];
__constant__ float weights[16];

void bytes_times_size() {
  float* x;
  check(cudaMalloc(&x, kBytes));  // OTHER
  cudaMemcpy(x, host, mended ? kBytes : kBytes * sizeof(float), cudaMemcpyHostToDevice);  // BUG: out-of-bounds
  check(cudaFree(x));
}

// The array was made too small: so many bytes as it has elements.
void allocated_elements() {
  float* x;
  check(cudaMalloc(&x, mended ? kBytes : kCount));  // OTHER
  cudaMemcpy(x, host, kBytes, cudaMemcpyHostToDevice);  // BUG: out-of-bounds
  check(cudaFree(x));
}

// Too few bytes are copied: legal, only the result is not.
void copied_elements() {
  float* x;
  check(cudaMalloc(&x, kBytes));
  check(cudaMemcpy(x, host, mended ? kBytes : kCount, cudaMemcpyHostToDevice));
  check(cudaFree(x));
}

void from_the_middle() {
  float* x;
  check(cudaMalloc(&x, kBytes));  // OTHER
  check(cudaMemset(x, 0, kBytes));
  const int first = kCount / 2;
  const size_t bytes = (mended ? kCount - first : kCount) * sizeof(float);
  cudaMemcpy(host, x + first, bytes, cudaMemcpyDeviceToHost);  // BUG: out-of-bounds
  check(cudaFree(x));
}

void pinned_too_short() {
  float *x, *y;
  check(cudaMalloc(&x, kBytes));
  check(cudaMemset(x, 0, kBytes));
  check(cudaMallocHost(&y, mended ? kBytes : kBytes / 2));  // OTHER
  cudaMemcpyAsync(y, x, kBytes, cudaMemcpyDeviceToHost);  // BUG: out-of-bounds
  check(cudaDeviceSynchronize());
  check(cudaFree(x));
  check(cudaFreeHost(y));
}

// Ten rows of 100 bytes, 512 bytes apart.
void rows_too_many() {
  char* x;
  size_t pitch;
  check(cudaMallocPitch(&x, &pitch, 100, 10));  // OTHER
  const int rows = mended ? 10 : 11;
  cudaMemcpy2D(x, pitch, host, 100, 100, rows, cudaMemcpyHostToDevice);  // BUG: out-of-bounds
  check(cudaFree(x));
}

// The pitch of the one array is taken for that of the other.
void pitch_of_another() {
  char *x, *y;
  size_t pitch;
  check(cudaMallocPitch(&x, &pitch, 100, 10));
  check(cudaMemset2D(x, pitch, 0, 100, 10));
  check(cudaMalloc(&y, 10 * 100));  // OTHER
  const size_t pitch_of_y = mended ? 100 : pitch;
  cudaMemcpy2D(y, pitch_of_y, x, pitch, 100, 10, cudaMemcpyDeviceToDevice);  // BUG: out-of-bounds
  check(cudaFree(x));
  check(cudaFree(y));
}

void fill_too_long() {
  float* x;
  check(cudaMalloc(&x, kBytes));  // OTHER
  cudaMemset(x, 0, mended ? kBytes : kBytes + 1);  // BUG: out-of-bounds
  check(cudaFree(x));
}

void fill_too_many_rows() {
  char* x;
  check(cudaMalloc(&x, 1000));  // OTHER
  cudaMemset2D(x, 100, 0, 100, mended ? 10 : 20);  // BUG: out-of-bounds
  check(cudaFree(x));
}

void beyond_symbol() {
  const size_t offset = (mended ? 12 : 13) * sizeof(float);
  cudaMemcpyToSymbol(table, host, 4 * sizeof(float), offset);  // BUG: out-of-bounds
}

void beyond_constant() {
  cudaMemcpyToSymbol(weights, host, (mended ? 16 : 17) * sizeof(float));  // BUG: out-of-bounds
}

int main(int argc, char** argv) {
  return run_named(argc, argv,
                   {NAMED(bytes_times_size), NAMED(allocated_elements), NAMED(copied_elements), NAMED(from_the_middle),
                    NAMED(pinned_too_short), NAMED(rows_too_many), NAMED(pitch_of_another), NAMED(fill_too_long),
                    NAMED(fill_too_many_rows), NAMED(beyond_symbol), NAMED(beyond_constant)});
}
