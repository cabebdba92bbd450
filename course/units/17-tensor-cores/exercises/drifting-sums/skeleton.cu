// c[i, j] = Σ_p a[i, p] b[j, p]. a: (m, k), b: (n, k), both half; c: (m, n), float; all row by row. m is a multiple of 16, n of 8,
// k of 16. A block is one warp; block (X, Y) computes the 16 × 8 elements of c at (16 Y, 8 X).
#include <cuda_fp16.h>

// Two neighbours of a row, as one register.
__device__ unsigned pair(const __half* from) { return *reinterpret_cast<const unsigned*>(from); }

__global__ void product(int m, int n, int k, const __half* a, const __half* b, float* c) {
  const int i = blockIdx.y * 16, j = blockIdx.x * 8;
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  __half2 sum[2] = {};  // two numbers in a register
  for (int p = 0; p < k; p += 16) {
    const __half* upper = a + (i + g) * k + p + 2 * t;
    const __half* lower = upper + 8 * k;
    const __half* of_b = b + (j + g) * k + p + 2 * t;
    unsigned* d = reinterpret_cast<unsigned*>(sum);
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(pair(upper)), "r"(pair(lower)), "r"(pair(upper + 8)), "r"(pair(lower + 8)), "r"(pair(of_b)), "r"(pair(of_b + 8)));
  }
  float* to = c + (i + g) * n + j + 2 * t;
  to[0] = __low2float(sum[0]);
  to[1] = __high2float(sum[0]);
  to[8 * n] = __low2float(sum[1]);
  to[8 * n + 1] = __high2float(sum[1]);
}
