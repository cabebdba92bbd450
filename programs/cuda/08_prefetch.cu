// Waiting for memory, or asking for it early: one warp per SM walks through an array and sums it, loading what it needs
// when it needs it, one step ahead into registers, or several steps ahead into shared memory (cp.async).
//
//   flashpath run 08_prefetch.cu [-- KILOBYTES of each block]
//
// With so few warps nothing else hides the latency of a load. On the virtual GPU times are lower bounds, which all
// share; on a GPU the difference is several times.
#include <cuda_pipeline.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "check.cuh"

constexpr int kLanes = 32;
constexpr int kStages = 8;

// `#pragma unroll 1`: else the compiler prefetches by itself, which is what is to be seen.
__global__ void when_needed(int packs, const float4* in, float* out) {
  const float4* mine = in + blockIdx.x * (long long)packs;
  float sum = 0;
#pragma unroll 1
  for (int p = threadIdx.x; p < packs; p += kLanes) {
    const float4 now = mine[p];
    sum += (now.x + now.y) + (now.z + now.w);
  }
  out[blockIdx.x * kLanes + threadIdx.x] = sum;
}

__global__ void one_ahead(int packs, const float4* in, float* out) {
  const float4* mine = in + blockIdx.x * (long long)packs;
  float sum = 0;
  float4 next = int(threadIdx.x) < packs ? mine[threadIdx.x] : float4{};
#pragma unroll 1
  for (int p = threadIdx.x; p < packs; p += kLanes) {
    const float4 now = next;
    if (p + kLanes < packs) next = mine[p + kLanes];  // on its way while `now` is added
    sum += (now.x + now.y) + (now.z + now.w);
  }
  out[blockIdx.x * kLanes + threadIdx.x] = sum;
}

__global__ void many_ahead(int packs, const float4* in, float* out) {
  __shared__ float4 stages[kStages][kLanes];
  const float4* mine = in + blockIdx.x * (long long)packs;
  auto fetch = [&](int step) {
    const int p = step * kLanes + threadIdx.x;
    float4* to = &stages[step % kStages][threadIdx.x];
    if (p < packs) __pipeline_memcpy_async(to, mine + p, sizeof(float4));
    __pipeline_commit();  // also of nothing: the count stays the same
  };
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  float sum = 0;
#pragma unroll 1
  for (int step = 0; step * kLanes + int(threadIdx.x) < packs; ++step) {
    fetch(step + kStages - 1);
    __pipeline_wait_prior(kStages - 1);  // this step's own has come
    // Each thread reads what it fetched itself.
    const float4 now = stages[step % kStages][threadIdx.x];
    sum += (now.x + now.y) + (now.z + now.w);
  }
  __pipeline_wait_prior(0);
  out[blockIdx.x * kLanes + threadIdx.x] = sum;
}

int main(int argc, char** argv) {
  const int kilobytes = argc > 1 ? std::atoi(argv[1]) : 64;
  if (kilobytes < 1 || argc > 2) {
    std::fprintf(stderr, "usage: %s [KILOBYTES]\n", argv[0]);
    return 2;
  }
  int blocks;
  CHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, 0));
  const int packs = kilobytes * 64;
  const std::size_t bytes = std::size_t(blocks) * packs * sizeof(float4);
  std::vector<float> in(bytes / sizeof(float)), found(std::size_t(blocks) * kLanes);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = float(i % 7) - 3;  // whole numbers: sums are exact
  std::vector<float> truth(found.size());
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t pack = i / 4, block = pack / packs;
    truth[block * kLanes + pack % packs % kLanes] += in[i];
  }
  float4* device_in;
  float* device_out;
  CHECK(cudaMalloc(&device_in, bytes));
  CHECK(cudaMalloc(&device_out, found.size() * sizeof(float)));
  CHECK(cudaMemcpy(device_in, in.data(), bytes, cudaMemcpyHostToDevice));
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));

  const struct {
    const char* name;
    void (*kernel)(int, const float4*, float*);
  } variants[] = {{"when needed", when_needed}, {"one ahead", one_ahead}, {"seven ahead", many_ahead}};
  int wrong = 0;
  std::printf("%d warps, one per SM, read %d KB each\n\n", blocks, kilobytes);
  for (const auto& variant : variants) {
    CHECK(cudaMemset(device_out, 0xff, found.size() * sizeof(float)));
    float best = INFINITY;
    for (int run = 0; run < 5; ++run) {
      CHECK(cudaEventRecord(start));
      variant.kernel<<<blocks, kLanes>>>(packs, device_in, device_out);
      CHECK(cudaGetLastError());
      CHECK(cudaEventRecord(stop));
      CHECK(cudaEventSynchronize(stop));
      float milliseconds;
      CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
      best = std::min(best, milliseconds);
    }
    CHECK(cudaMemcpy(found.data(), device_out, found.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < found.size(); ++i) wrong += found[i] != truth[i];
    std::printf("%-12s %10.2f us %8.1f GB/s\n", variant.name, 1000 * best, bytes / best / 1e6);
  }
  std::printf("\n%d sums are wrong\n", wrong);
  tell_of_bounds(__FILE__);
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  return wrong != 0;
}
