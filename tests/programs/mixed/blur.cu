// The device's half: a box blur; pixels beyond the edge are left out of the mean.
#include <cuda_runtime.h>

#include <stdexcept>

#include "image.h"

namespace {

__global__ void blur(const std::uint8_t* in, std::uint8_t* out, int width, int height, int radius) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int sum = 0, count = 0;
  for (int v = max(0, y - radius); v <= min(height - 1, y + radius); ++v) {
    for (int u = max(0, x - radius); u <= min(width - 1, x + radius); ++u) {
      sum += in[v * width + u];
      ++count;
    }
  }
  out[y * width + x] = static_cast<std::uint8_t>(sum / count);
}

}  // namespace

Image blurred(const Image& image, int radius) {
  Image result = image;
  std::uint8_t *in, *out;
  cudaMalloc(&in, image.pixels.size());
  cudaMalloc(&out, image.pixels.size());
  cudaMemcpy(in, image.pixels.data(), image.pixels.size(), cudaMemcpyHostToDevice);
  const dim3 block(8, 8), grid((image.width + 7) / 8, (image.height + 7) / 8);
  blur<<<grid, block>>>(in, out, image.width, image.height, radius);
  cudaMemcpy(result.pixels.data(), out, image.pixels.size(), cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  if (cudaGetLastError() != cudaSuccess) throw std::runtime_error("the GPU did not blur");
  return result;
}
