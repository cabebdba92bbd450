// up[i] = a * x[i] + b and square[i] = x[i] * x[i], with fewer threads than elements.
__global__ void up_and_square(int n, float a, float b, const float* x, float* up, float* square) {
  // TODO: one thread does everything. Share the elements out over the whole grid, and load each x[i] once.
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      up[i] = a * x[i] + b;
      square[i] = x[i] * x[i];
    }
  }
}
