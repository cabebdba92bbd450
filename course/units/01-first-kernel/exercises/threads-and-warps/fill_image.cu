// One thread for each pixel of an image with n rows and n columns.
__global__ void fill_image(int n, float* image) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    image[y * n + x] = 1.0f;
  }
}
