// How many clocks one thread waits for a value from each level of memory: every load needs the result of the one before.
//
//   flashpath run latency.cu --device cuda
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                               \
  do {                                                                                            \
    const cudaError_t error = (call);                                                             \
    if (error != cudaSuccess) {                                                                   \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));         \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

constexpr int kSteps = 4096;
constexpr int kSmall = 512;  // places of the chains in shared and constant memory

__constant__ int in_constant[kSmall];

enum Level { kRegister, kConstant, kShared, kGlobal };

// next[i] is where to go from i; the chain is walked once to fill the caches, and once more against the clock.
__global__ void chase(Level level, const int* next, int warm, long long* clocks, int* last) {
  __shared__ int in_shared[kSmall];
  for (int i = 0; i < kSmall; ++i) in_shared[i] = in_constant[i];
  int at = 0;
  if (level == kGlobal) {
    for (int i = 0; i < warm; ++i) at = next[at];
  } else {
    for (int i = 0; i < kSmall; ++i) at = in_constant[at];
  }
  const long long begin = clock64();
  if (level == kRegister) {
#pragma unroll 64
    for (int i = 0; i < kSteps; ++i) asm volatile("mad.lo.s32 %0, %0, %0, 1;" : "+r"(at));
  } else if (level == kConstant) {
#pragma unroll 64
    for (int i = 0; i < kSteps; ++i) at = in_constant[at];
  } else if (level == kShared) {
#pragma unroll 64
    for (int i = 0; i < kSteps; ++i) at = in_shared[at];
  } else {
#pragma unroll 64
    for (int i = 0; i < kSteps; ++i) at = next[at];
  }
  *clocks = clock64() - begin;
  *last = at;
}

// One cycle through all places that are `apart` ints from one another, in an order that no prefetcher guesses.
std::vector<int> chain(std::size_t places, int apart) {
  std::vector<int> order(places), next(places * apart);
  for (std::size_t i = 0; i < places; ++i) order[i] = i;
  unsigned state = 1;
  for (std::size_t i = places - 1; i > 0; --i) {
    state = state * 1664525u + 1013904223u;
    std::swap(order[i], order[state % (i + 1)]);
  }
  for (std::size_t i = 0; i < places; ++i) next[apart * order[i]] = apart * order[(i + 1) % places];
  return next;
}

void show(const char* name, Level level, std::size_t bytes) {
  const int apart = level == kGlobal ? 32 : 1;  // a line of 128 bytes for each place in global memory
  const std::vector<int> next = chain(level == kGlobal ? bytes / 128 : kSmall, apart);
  int *device_next, *last;
  long long *clocks, result;
  CHECK(cudaMalloc(&device_next, next.size() * sizeof(int)));
  CHECK(cudaMalloc(&clocks, sizeof(long long)));
  CHECK(cudaMalloc(&last, sizeof(int)));
  CHECK(cudaMemcpy(device_next, next.data(), next.size() * sizeof(int), cudaMemcpyHostToDevice));
  const int warm = bytes < (64u << 20) ? bytes / 128 : 64;  // what no cache holds need not be walked
  chase<<<1, 1>>>(level, device_next, warm, clocks, last);
  CHECK(cudaGetLastError());
  CHECK(cudaMemcpy(&result, clocks, sizeof(result), cudaMemcpyDeviceToHost));
  std::printf("%-28s %6.1f clocks\n", name, double(result) / kSteps);
  CHECK(cudaFree(device_next));
  CHECK(cudaFree(clocks));
  CHECK(cudaFree(last));
}

int main() {
  cudaDeviceProp gpu;
  CHECK(cudaGetDeviceProperties(&gpu, 0));
  std::printf("%s\n", gpu.name);
  const std::vector<int> small = chain(kSmall, 1);
  CHECK(cudaMemcpyToSymbol(in_constant, small.data(), kSmall * sizeof(int)));
  show("register (multiply and add)", kRegister, 0);
  show("constant, 2 KiB", kConstant, 0);
  show("shared, 2 KiB", kShared, 0);
  show("global, 16 KiB: L1", kGlobal, 16 << 10);
  show("global, 8 MiB: L2", kGlobal, 8 << 20);
  show("global, 1 GiB: HBM", kGlobal, 1 << 30);
  return 0;
}
