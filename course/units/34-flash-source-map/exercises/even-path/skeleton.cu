// y = scale · x, tile by tile: a block of 128 threads has 64 rows and all columns, 64 at most, four of them to a thread.
// x, y: (rows, d), d a multiple of 4, at most 64.

// A tile. What is even is so for certain: no comparison is compiled for it.
template <bool kEvenRows, bool kEvenColumns>
__device__ void scale_tile(int rows, int d, float scale, const float* x, float* y) {
  const int column = threadIdx.x % 16 * 4;
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int row = blockIdx.x * 64 + step * 8 + threadIdx.x / 16;
    // TODO: only where the row and the column are there; what the template promises is not asked
    float4 four = *reinterpret_cast<const float4*>(x + row * d + column);
    four = make_float4(scale * four.x, scale * four.y, scale * four.z, scale * four.w);
    *reinterpret_cast<float4*>(y + row * d + column) = four;
  }
}

__global__ void scale_rows(int rows, int d, float scale, const float* x, float* y) {
  // TODO: which of the four instances may this block take?
  scale_tile<true, true>(rows, d, scale, x, y);
}
