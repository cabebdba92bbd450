// Random numbers: seeds from std::mt19937 on the host, xorshift in the kernel, and π by throwing darts.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

__host__ __device__ std::uint32_t next(std::uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

__host__ __device__ unsigned hits_of(std::uint32_t seed, int darts) {
  unsigned hits = 0;
  for (int dart = 0; dart < darts; ++dart) {
    const float x = (next(seed) >> 8) * (1.0f / (1 << 24));
    const float y = (next(seed) >> 8) * (1.0f / (1 << 24));
    if (x * x + y * y < 1.0f) ++hits;
  }
  return hits;
}

__global__ void throw_darts(const std::uint32_t* seeds, int darts, unsigned* hits) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(hits, hits_of(seeds[k], darts));
}

int main() {
  const int threads = 4096, darts = 64;
  std::mt19937 generator(2024);
  std::vector<std::uint32_t> seeds(threads);
  for (std::uint32_t& seed : seeds) seed = static_cast<std::uint32_t>(generator()) | 1;
  std::uint32_t* d_seeds;
  unsigned *d_hits, hits = 0;
  cudaMalloc(&d_seeds, threads * sizeof(std::uint32_t));
  cudaMalloc(&d_hits, sizeof(unsigned));
  cudaMemcpy(d_seeds, seeds.data(), threads * sizeof(std::uint32_t), cudaMemcpyHostToDevice);
  cudaMemset(d_hits, 0, sizeof(unsigned));
  throw_darts<<<threads / 256, 256>>>(d_seeds, darts, d_hits);
  cudaMemcpy(&hits, d_hits, sizeof hits, cudaMemcpyDeviceToHost);
  unsigned expected = 0;
  for (std::uint32_t seed : seeds) expected += hits_of(seed, darts);
  const double pi = 4.0 * hits / (double(threads) * darts);
  // x² + y² may be contracted to one rounding on one side only: a dart on the very edge may count differently.
  const bool same = std::abs(static_cast<int>(hits - expected)) <= 4;
  std::printf("as on the host: %s\n", same ? "yes" : "no");
  std::printf("π is about 3.14: %s\n", std::fabs(pi - 3.14159265) < 0.02 ? "yes" : "no");
  std::fprintf(stderr, "π ≈ %.5f\n", pi);
  cudaFree(d_seeds);
  cudaFree(d_hits);
  return same ? 0 : 1;
}
