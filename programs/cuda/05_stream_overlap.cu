// The same work in one stream and in several: copy in, compute, copy out, chunk by chunk.
//
// In one stream everything waits for what was asked before. In several, one chunk is computed while the next one is
// copied in and the last one out: a GPU has engines of their own for each. Copies overlap only from and to pinned
// memory (cudaMallocHost).
//
//   flashpath run 05_stream_overlap.cu [-- ELEMENTS [STREAMS]]
//
// On the virtual GPU times come from a model: copies at the link's peak, kernels at their roofline bound.
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.cuh"

// As much arithmetic that copying and computing take about as long: x → x / 2 + 1, many times, goes to 2.
__global__ void approach_two(long long n, int steps, const float* in, float* out) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int step = 0; step < steps; ++step) x = fmaf(x, 0.5f, 1.0f);
  out[i] = x;
}

constexpr int kSteps = 64;
constexpr int kChunks = 16;

float on_host(float x) {
  for (int step = 0; step < kSteps; ++step) x = std::fma(x, 0.5f, 1.0f);
  return x;
}

// Milliseconds for all chunks, dealt out to so many streams in turn.
float pass(long long n, const float* in, float* out, float* device_in,
           float* device_out, const std::vector<cudaStream_t>& streams) {
  const long long chunk = (n + kChunks - 1) / kChunks;
  cudaEvent_t start, stop;
  CHECK(cudaEventCreate(&start));
  CHECK(cudaEventCreate(&stop));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventRecord(start, streams[0]));
  for (std::size_t s = 1; s < streams.size(); ++s) {
    CHECK(cudaStreamWaitEvent(streams[s], start, 0));
  }
  for (int c = 0; c < kChunks; ++c) {
    const long long first = c * chunk, count = std::min(chunk, n - first);
    if (count <= 0) break;
    const std::size_t bytes = count * sizeof(float);
    cudaStream_t stream = streams[c % streams.size()];
    CHECK(cudaMemcpyAsync(device_in + first, in + first, bytes,
                          cudaMemcpyHostToDevice, stream));
    approach_two<<<(count + 255) / 256, 256, 0, stream>>>(
        count, kSteps, device_in + first, device_out + first);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(out + first, device_out + first, bytes,
                          cudaMemcpyDeviceToHost, stream));
  }
  // The last event waits for all streams.
  for (std::size_t s = 1; s < streams.size(); ++s) {
    cudaEvent_t done;
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaEventRecord(done, streams[s]));
    CHECK(cudaStreamWaitEvent(streams[0], done, 0));
    CHECK(cudaEventDestroy(done));
  }
  CHECK(cudaEventRecord(stop, streams[0]));
  CHECK(cudaEventSynchronize(stop));
  float milliseconds;
  CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK(cudaEventDestroy(start));
  CHECK(cudaEventDestroy(stop));
  return milliseconds;
}

int main(int argc, char** argv) {
  const long long n = argc > 1 ? std::atoll(argv[1]) : 1 << 20;
  const int count = argc > 2 ? std::atoi(argv[2]) : 4;
  if (n < 1 || count < 2 || count > 64 || argc > 3) {
    std::fprintf(stderr, "usage: %s [ELEMENTS [STREAMS, 2 to 64]]\n", argv[0]);
    return 2;
  }
  float *in, *out, *device_in, *device_out;
  CHECK(cudaMallocHost(&in, n * sizeof(float)));
  CHECK(cudaMallocHost(&out, n * sizeof(float)));
  CHECK(cudaMalloc(&device_in, n * sizeof(float)));
  CHECK(cudaMalloc(&device_out, n * sizeof(float)));
  for (long long i = 0; i < n; ++i) in[i] = i % 1000;
  std::vector<cudaStream_t> streams(count);
  for (cudaStream_t& stream : streams) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

  std::printf("%lld floats in %d chunks: copy in, %d steps each, copy out\n\n", n, kChunks, kSteps);
  float times[2];
  long long wrong = 0;
  for (int several = 0; several < 2; ++several) {
    const std::vector<cudaStream_t> used(streams.begin(), streams.begin() + (several ? count : 1));
    pass(n, in, out, device_in, device_out, used);  // loads the kernel, touches the memory
    std::fill(out, out + n, NAN);
    times[several] = INFINITY;
    for (int run = 0; run < 3; ++run) {
      times[several] = std::min(times[several], pass(n, in, out, device_in, device_out, used));
    }
    for (long long i = 0; i < n; ++i) wrong += out[i] != on_host(in[i]);
    std::printf("%2zu stream%s %9.3f ms\n", used.size(), used.size() == 1 ? " " : "s", times[several]);
  }
  std::printf("\n%d streams take %.2f of the time of one; %lld elements are wrong\n", count, times[1] / times[0], wrong);

  for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(device_in));
  CHECK(cudaFree(device_out));
  CHECK(cudaFreeHost(in));
  CHECK(cudaFreeHost(out));
  return wrong != 0;
}
