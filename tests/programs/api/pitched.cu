// Memory in rows and planes: pitched allocations, copies of rectangles and boxes, fills.
#include <vector>

#include "expect.h"

constexpr int kWidth = 19, kHeight = 7, kDepth = 3;

__global__ void transpose_signs(char* rows, std::size_t pitch) {
  float* row = reinterpret_cast<float*>(rows + threadIdx.y * pitch);
  row[threadIdx.x] = -row[threadIdx.x];
}

void rectangles() {
  float* device;
  std::size_t pitch;
  MUST(cudaMallocPitch(&device, &pitch, kWidth * sizeof(float), kHeight));
  expect(pitch >= kWidth * sizeof(float) && pitch % 32 == 0, "rows are at least as far apart as they are wide");
  float host[kHeight][kWidth], back[kHeight][kWidth];
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) host[y][x] = 100.0f * y + x;
  }
  MUST(cudaMemset2D(device, pitch, 0xff, pitch, kHeight));
  MUST(cudaMemcpy2D(device, pitch, host, sizeof host[0], sizeof host[0], kHeight, cudaMemcpyHostToDevice));
  transpose_signs<<<1, dim3(kWidth, kHeight)>>>(reinterpret_cast<char*>(device), pitch);
  MUST(cudaMemcpy2D(back, sizeof back[0], device, pitch, sizeof host[0], kHeight, cudaMemcpyDeviceToHost));
  bool same = true;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) same = same && back[y][x] == -host[y][x];
  }
  expect(same, "a rectangle went to the GPU and back");

  // A window of 5 × 3 at column 2, row 4, from device to device, in a stream.
  float* window;
  MUST(cudaMalloc(&window, 5 * 3 * sizeof(float)));
  cudaStream_t stream;
  MUST(cudaStreamCreate(&stream));
  const char* corner = reinterpret_cast<const char*>(device) + 4 * pitch + 2 * sizeof(float);
  const std::size_t width = 5 * sizeof(float);
  MUST(cudaMemcpy2DAsync(window, width, corner, pitch, width, 3, cudaMemcpyDeviceToDevice, stream));
  float seen[3][5];
  MUST(cudaMemcpyAsync(seen, window, sizeof seen, cudaMemcpyDeviceToHost, stream));
  MUST(cudaMemset2DAsync(device, pitch, 0, kWidth * sizeof(float), kHeight, stream));
  MUST(cudaMemcpy2DAsync(back, sizeof back[0], device, pitch, sizeof back[0], kHeight, cudaMemcpyDefault, stream));
  MUST(cudaStreamSynchronize(stream));
  expect(seen[0][0] == -402.0f && seen[2][4] == -606.0f, "a window was cut out of it");
  expect(back[0][0] == 0 && back[kHeight - 1][kWidth - 1] == 0, "it was filled with zeros");
  expect_error(cudaMemcpy2D(device, 8, host, sizeof host[0], sizeof host[0], 2, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue, "rows wider than their pitch are refused");
  MUST(cudaStreamDestroy(stream));
  MUST(cudaFree(window));
  MUST(cudaFree(device));
}

void boxes() {
  const cudaExtent extent = make_cudaExtent(kWidth, kHeight, kDepth);  // bytes, rows, planes
  cudaPitchedPtr device;
  MUST(cudaMalloc3D(&device, extent));
  expect(device.pitch >= kWidth && device.xsize == kWidth && device.ysize == kHeight, "a box of bytes");
  MUST(cudaMemset3D(device, 9, extent));
  std::vector<unsigned char> host(kWidth * kHeight * kDepth), back(host.size(), 77);
  for (std::size_t k = 0; k < host.size(); ++k) host[k] = static_cast<unsigned char>(k % 251);

  // The box without its first plane, row and column.
  cudaMemcpy3DParms inner = {};
  inner.srcPtr = make_cudaPitchedPtr(host.data(), kWidth, kWidth, kHeight);
  inner.dstPtr = device;
  inner.srcPos = inner.dstPos = make_cudaPos(1, 1, 1);
  inner.extent = make_cudaExtent(kWidth - 1, kHeight - 1, kDepth - 1);
  inner.kind = cudaMemcpyHostToDevice;
  MUST(cudaMemcpy3D(&inner));

  cudaMemcpy3DParms whole = {};
  whole.srcPtr = device;
  whole.dstPtr = make_cudaPitchedPtr(back.data(), kWidth, kWidth, kHeight);
  whole.extent = extent;
  whole.kind = cudaMemcpyDeviceToHost;
  MUST(cudaMemcpy3DAsync(&whole, nullptr));
  MUST(cudaDeviceSynchronize());
  bool same = true;
  for (int k = 0; k < kWidth * kHeight * kDepth; ++k) {
    const int x = k % kWidth, y = k / kWidth % kHeight, z = k / kWidth / kHeight;
    const bool is_inner = x > 0 && y > 0 && z > 0;
    same = same && back[k] == (is_inner ? host[k] : 9);
  }
  expect(same, "a box within a box was copied");
  MUST(cudaMemset3DAsync(device, 1, extent, nullptr));
  MUST(cudaMemcpy3D(&whole));
  expect(back.front() == 1 && back.back() == 1, "a box was filled");
  MUST(cudaFree(device.ptr));
}

int main() {
  rectangles();
  boxes();
  return wrong;
}
