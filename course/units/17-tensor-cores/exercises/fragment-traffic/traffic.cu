// The 32-bit registers of fragments of mma.sync, loaded from matrices in global memory.
#include <cuda_fp16.h>

__device__ unsigned pair(const __half* from) { return *reinterpret_cast<const unsigned*>(from); }

__device__ unsigned pack(__half first, __half second) {
  return __half_as_ushort(first) | static_cast<unsigned>(__half_as_ushort(second)) << 16;
}

__device__ void multiply(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// The four registers of A's upper left fragment. a: (m, k), row by row.
__global__ void load_a(int k, const __half* a, unsigned* out) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const __half* from = a + g * k + 2 * t;
  out[threadIdx.x] = pair(from) + pair(from + 8 * k) + pair(from + 8) + pair(from + 8 * k + 8);
}

// The two registers of B's upper left fragment. b: (k, n), row by row.
__global__ void load_b(int n, const __half* b, unsigned* out) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const __half* from = b + 2 * t * n + g;
  out[threadIdx.x] = pack(from[0], from[n]) + pack(from[8 * n], from[9 * n]);
}

// The same of a B that is stored turned. b: (n, k), row by row.
__global__ void load_b_turned(int k, const __half* b, unsigned* out) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const __half* from = b + g * k + 2 * t;
  out[threadIdx.x] = pair(from) + pair(from + 8);
}

// All of d for zeros in a and b: 16 × 8 elements for each warp. d: (m, n), row by row.
__global__ void product(int n, int k, float* d) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const unsigned a[4] = {}, b[2] = {};
  float sum[4] = {};
  for (int p = 0; p < k; p += 16) {
    multiply(sum, a, b);
  }
  float* to = d + (blockIdx.y * 16 + g) * n + blockIdx.x * 8 + 2 * t;
  to[0] = sum[0];
  to[1] = sum[1];
  to[8 * n] = sum[2];
  to[8 * n + 1] = sum[3];
}
