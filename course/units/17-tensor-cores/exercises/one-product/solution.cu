// Many small products: d[p] = a[p] b[p] for p < count. a: (count, 16, 16), b: (count, 16, 8), both half; d: (count, 16, 8),
// float; all row by row. Blocks of four warps; each warp computes one product with one mma.sync.
#include <cuda_fp16.h>

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Two halves in one register, the first in its lower 16 bits.
__device__ unsigned pack(__half first, __half second) {
  return __half_as_ushort(first) | static_cast<unsigned>(__half_as_ushort(second)) << 16;
}

__global__ void products(int count, const __half* a, const __half* b, float* d) {
  const int p = blockIdx.x * 4 + threadIdx.x / 32;
  if (p >= count) {
    return;  // the whole warp
  }
  const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  a += p * 256, b += p * 128, d += p * 128;

  unsigned of_a[4], of_b[2];
  for (int r = 0; r < 4; ++r) {
    const int row = g + r % 2 * 8, column = 2 * t + r / 2 * 8;
    of_a[r] = *reinterpret_cast<const unsigned*>(a + row * 16 + column);
  }
  for (int r = 0; r < 2; ++r) {
    const int row = 2 * t + r * 8;
    of_b[r] = pack(b[row * 8 + g], b[(row + 1) * 8 + g]);
  }
  float of_d[4] = {};
  multiply(of_d, of_a, of_b);
  *reinterpret_cast<float2*>(d + g * 8 + 2 * t) = make_float2(of_d[0], of_d[1]);
  *reinterpret_cast<float2*>(d + (g + 8) * 8 + 2 * t) = make_float2(of_d[2], of_d[3]);
}
