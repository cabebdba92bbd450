// 64 tiles of keys add their part to one row of dQ, twice: to one sum by atomics, and each block to a split of its own.
// Compare the two lines between runs under several schedules: flashpath run order.cu --seed 1
#include <cstdio>

constexpr int kTiles = 64, kSplits = 4;

__device__ float part(int tile) {  // what a tile of keys adds: of both signs, large and small
  return (tile % 2 ? -1.0f : 1.0f) * (1.0f + tile * 0.37f) / (1 + tile % 7);
}

__global__ void to_one(float* dq) { atomicAdd(dq, part(blockIdx.x)); }

__global__ void to_splits(float* splits) {
  for (int tile = blockIdx.x; tile < kTiles; tile += gridDim.x) {
    splits[blockIdx.x] += part(tile);
  }
}

__global__ void convert(const float* splits, float* dq) {
  for (int s = 0; s < kSplits; ++s) *dq += splits[s];
}

int main() {
  float *sums, dq[2];
  cudaMalloc(&sums, (kSplits + 2) * sizeof(float));
  cudaMemset(sums, 0, (kSplits + 2) * sizeof(float));
  to_one<<<kTiles, 1>>>(sums);
  to_splits<<<kSplits, 1>>>(sums + 2);
  convert<<<1, 1>>>(sums + 2, sums + 1);
  cudaMemcpy(dq, sums, sizeof(dq), cudaMemcpyDeviceToHost);
  printf("one sum:    %.9g\nown splits: %.9g\n", dq[0], dq[1]);
  cudaFree(sums);
  return 0;
}
