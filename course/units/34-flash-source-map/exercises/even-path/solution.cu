// y = scale · x, tile by tile: a block of 128 threads has 64 rows and all columns, 64 at most, four of them to a thread.
// x, y: (rows, d), d a multiple of 4, at most 64.

// A tile. What is even is so for certain: no comparison is compiled for it.
template <bool kEvenRows, bool kEvenColumns>
__device__ void scale_tile(int rows, int d, float scale, const float* x, float* y) {
  const int column = threadIdx.x % 16 * 4;
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    const int row = blockIdx.x * 64 + step * 8 + threadIdx.x / 16;
    if ((kEvenRows || row < rows) && (kEvenColumns || column < d)) {
      float4 four = *reinterpret_cast<const float4*>(x + row * d + column);
      four = make_float4(scale * four.x, scale * four.y, scale * four.z, scale * four.w);
      *reinterpret_cast<float4*>(y + row * d + column) = four;
    }
  }
}

__global__ void scale_rows(int rows, int d, float scale, const float* x, float* y) {
  const bool even_rows = blockIdx.x * 64 + 64 <= rows;
  const bool even_columns = d == 64;
  if (even_rows && even_columns) {
    scale_tile<true, true>(rows, d, scale, x, y);
  } else if (even_rows) {
    scale_tile<true, false>(rows, d, scale, x, y);
  } else if (even_columns) {
    scale_tile<false, true>(rows, d, scale, x, y);
  } else {
    scale_tile<false, false>(rows, d, scale, x, y);
  }
}
