// Two GPUs: each with its memory and its streams, copies between them, kernels that use the other's memory.
#include <vector>

#include "expect.h"

constexpr int kCount = 1000;
constexpr std::size_t kBytes = kCount * sizeof(int);

__device__ int mine = 0;  // one on each GPU

__global__ void count_up(int* values, int from) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < kCount) values[k] = from + k;
  if (k == 0) mine += from;
}

__global__ void add(int* to, const int* from) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (k < kCount) to[k] += from[k];
}

bool counts_from(const int* device_values, int from) {
  std::vector<int> values(kCount);
  MUST(cudaMemcpy(values.data(), device_values, kBytes, cudaMemcpyDeviceToHost));
  for (int k = 0; k < kCount; ++k) {
    if (values[k] != from + k) return false;
  }
  return true;
}

int main() {
  int count = 0;
  MUST(cudaGetDeviceCount(&count));
  if (count < 2) {
    std::fprintf(stderr, "this program needs two GPUs, and %d is there\n", count);
    return 77;
  }
  int* values[2];
  cudaStream_t streams[2];
  for (int device : {0, 1}) {
    MUST(cudaSetDevice(device));
    MUST(cudaMalloc(&values[device], kBytes));
    MUST(cudaStreamCreate(&streams[device]));
    count_up<<<4, 256, 0, streams[device]>>>(values[device], 1000 * (device + 1));
  }
  for (int device : {0, 1}) {
    MUST(cudaSetDevice(device));
    MUST(cudaStreamSynchronize(streams[device]));
    int found = 0;
    MUST(cudaMemcpyFromSymbol(&found, mine, sizeof found));
    expect(found == 1000 * (device + 1), "each GPU has its own variables");
    cudaPointerAttributes attributes;
    MUST(cudaPointerGetAttributes(&attributes, values[device]));
    expect(attributes.device == device, "a pointer knows its GPU");
  }
  expect(counts_from(values[0], 1000) && counts_from(values[1], 2000), "both have counted");

  MUST(cudaMemcpyPeer(values[0], 0, values[1], 1, kBytes));
  expect(counts_from(values[0], 2000), "one copies from the other");
  MUST(cudaSetDevice(0));
  count_up<<<4, 256, 0, streams[0]>>>(values[0], 3000);
  MUST(cudaMemcpyPeerAsync(values[1], 1, values[0], 0, kBytes, streams[0]));
  MUST(cudaStreamSynchronize(streams[0]));
  expect(counts_from(values[1], 3000), "and back, in a stream");
  MUST(cudaMemcpy(values[0], values[1], kBytes, cudaMemcpyDefault));
  expect(counts_from(values[0], 3000), "a pointer is enough to say where");

  int can_access = 0;
  MUST(cudaDeviceCanAccessPeer(&can_access, 0, 1));
  if (can_access) {
    MUST(cudaDeviceEnablePeerAccess(1, 0));
    expect_error(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled, "once is enough");
    add<<<4, 256>>>(values[0], values[1]);
    int sum[2];
    MUST(cudaMemcpy(sum, values[0], sizeof sum, cudaMemcpyDeviceToHost));
    expect(sum[0] == 6000 && sum[1] == 6002, "a kernel reads the other's memory");
    MUST(cudaDeviceDisablePeerAccess(1));
  }
  expect_error(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled, "what is not on is not turned off");

  // An event of one GPU, waited for by a stream of the other.
  cudaEvent_t counted;
  MUST(cudaEventCreateWithFlags(&counted, cudaEventDisableTiming));
  count_up<<<4, 256, 0, streams[0]>>>(values[0], 4000);
  MUST(cudaEventRecord(counted, streams[0]));
  MUST(cudaSetDevice(1));
  MUST(cudaStreamWaitEvent(streams[1], counted, 0));
  MUST(cudaMemcpyPeerAsync(values[1], 1, values[0], 0, kBytes, streams[1]));
  MUST(cudaStreamSynchronize(streams[1]));
  expect(counts_from(values[1], 4000), "one GPU waits for the other");
  MUST(cudaEventDestroy(counted));
  for (int device : {0, 1}) {
    MUST(cudaStreamDestroy(streams[device]));
    MUST(cudaFree(values[device]));
  }
  return wrong;
}
