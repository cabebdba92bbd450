// out[y, x] = image[y, width - 1 - x]: the image in a mirror, left and right exchanged.
// image, out: (height, width), row by row. Blocks of 16 × 16 threads (x, y) cover the image.
__global__ void mirror(int height, int width, const float* image, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    out[y * width + x] = image[y * width + width - 1 - x];
  }
}
