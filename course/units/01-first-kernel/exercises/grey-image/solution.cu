// out[y, x] = 0.299 red + 0.587 green + 0.114 blue of the pixel in row y and column x.
// rgb: (height, width, 3), out: (height, width), both row by row. Blocks of 32 × 8 threads (x, y) cover the image.
__global__ void grey(int height, int width, const float* rgb, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    const int pixel = y * width + x;
    const float red = rgb[3 * pixel];
    const float green = rgb[3 * pixel + 1];
    const float blue = rgb[3 * pixel + 2];
    out[pixel] = 0.299f * red + 0.587f * green + 0.114f * blue;
  }
}
