// Many small blocks, or a few that stay: a row of work items of uneven size, taken by one block each, by blocks that
// step through them, and by blocks that fetch the next one from a counter when they are done with the last.
//
//   flashpath run 07_persistent_blocks.cu [-- ITEMS]
//
// Blocks that stay pay for their start once; stepping gives every block as many items, fetching as much work. On the
// virtual GPU times are lower bounds, which all three share: there `flashpath profile` shows how they differ.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.cuh"

constexpr int kThreads = 128;

// Item i takes 1 to 64 rounds: the few long ones make the difference.
__host__ __device__ int rounds_of(int item) { return item % 61 == 0 ? 64 : 1 + item % 3; }

__host__ __device__ float step(float x) { return x * 0.5f + 1.0f; }

__device__ void work(int item, float* out) {
  float x = float(item % 1000 + int(threadIdx.x));
  for (int round = rounds_of(item); round > 0; --round) x = step(x);
  out[item * kThreads + threadIdx.x] = x;
}

__global__ void one_block_each(int items, float* out, unsigned*) { work(blockIdx.x, out); }

__global__ void stepping(int items, float* out, unsigned*) {
  for (int item = blockIdx.x; item < items; item += gridDim.x) work(item, out);
}

__global__ void fetching(int items, float* out, unsigned* next) {
  __shared__ unsigned item;
  while (true) {
    if (threadIdx.x == 0) item = atomicAdd(next, 1);
    __syncthreads();
    const unsigned mine = item;
    if (mine >= unsigned(items)) return;
    work(mine, out);
    __syncthreads();  // all have read `item` before thread 0 fetches the next
  }
}

int main(int argc, char** argv) {
  const int items = argc > 1 ? std::atoi(argv[1]) : 4096;
  if (items < 1 || argc > 2) {
    std::fprintf(stderr, "usage: %s [ITEMS]\n", argv[0]);
    return 2;
  }
  int sms, per_sm;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, stepping, kThreads, 0));
  const int resident = std::min(items, sms * per_sm);
  const std::size_t count = std::size_t(items) * kThreads;
  std::vector<float> truth(count), found(count);
  for (int item = 0; item < items; ++item) {
    for (int t = 0; t < kThreads; ++t) {
      float x = float(item % 1000 + t);
      for (int round = rounds_of(item); round > 0; --round) x = step(x);
      truth[std::size_t(item) * kThreads + t] = x;
    }
  }
  float* out;
  unsigned* next;
  CHECK(cudaMalloc(&out, count * sizeof(float)));
  CHECK(cudaMalloc(&next, sizeof(unsigned)));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  const struct {
    const char* name;
    void (*kernel)(int, float*, unsigned*);
    int blocks;
  } variants[] = {{"a block each", one_block_each, items}, {"stepping", stepping, resident}, {"fetching", fetching, resident}};
  long long wrong = 0;
  std::printf("%d items of 1 to 64 rounds; %d blocks of %d threads are resident at once\n\n", items, sms * per_sm, kThreads);
  for (const auto& variant : variants) {
    CHECK(cudaMemset(out, 0xff, count * sizeof(float)));  // NaN: what is not written is wrong
    float best = INFINITY;
    for (int run = 0; run < 5; ++run) {
      CHECK(cudaMemset(next, 0, sizeof(unsigned)));
      CHECK(cudaEventRecord(start));
      variant.kernel<<<variant.blocks, kThreads>>>(items, out, next);
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(stop));
      CHECK(cudaEventSynchronize(stop));
      float milliseconds;
      CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
      best = std::min(best, milliseconds);
    }
    CHECK(cudaMemcpy(found.data(), out, count * sizeof(float), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < count; ++i) wrong += !(std::abs(found[i] - truth[i]) <= 1e-6f * std::abs(truth[i]));
    std::printf("%-14s %6d blocks %10.2f us\n", variant.name, variant.blocks, 1000 * best);
  }
  std::printf("\n%lld elements are wrong\n", wrong);
  tell_of_bounds(__FILE__);
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFree(out));
  CHECK(cudaFree(next));
  return wrong != 0;
}
