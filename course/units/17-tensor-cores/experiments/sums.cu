// What narrow inputs and narrow sums cost: a row times a column of k numbers between 0 and 1, by mma.sync, against double.
#include <cmath>
#include <cstdio>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int kTerms = 16;  // of one instruction

// Lane 0 to 3 hold row 0 of A and column 0 of B: register 0 has columns 2t and 2t + 1, register 2 (of B: 1) those 8 further.
// The other rows and columns are zero.
__device__ unsigned pair(const unsigned short* x, int k) {
  return threadIdx.x < 4 ? x[k + 2 * threadIdx.x] | static_cast<unsigned>(x[k + 2 * threadIdx.x + 1]) << 16 : 0;
}

__global__ void float_sums(int k, bool is_bf16, const unsigned short* x, const unsigned short* y, float* out) {
  float d[4] = {};
  for (int p = 0; p < k; p += kTerms) {
    const unsigned a0 = pair(x, p), a2 = pair(x, p + 8), b0 = pair(y, p), b1 = pair(y, p + 8);
    if (is_bf16) {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %5}, {%7, %8}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a0), "r"(0), "r"(a2), "r"(b0), "r"(b1));
    } else {
      asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %5}, {%7, %8}, {%0, %1, %2, %3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(a0), "r"(0), "r"(a2), "r"(b0), "r"(b1));
    }
  }
  if (threadIdx.x == 0) {
    *out = d[0];
  }
}

__global__ void half_sums(int k, const unsigned short* x, const unsigned short* y, float* out) {
  unsigned d[2] = {};
  for (int p = 0; p < k; p += kTerms) {
    asm("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %3}, {%5, %6}, {%0, %1};"
        : "+r"(d[0]), "+r"(d[1])
        : "r"(pair(x, p)), "r"(0), "r"(pair(x, p + 8)), "r"(pair(y, p)), "r"(pair(y, p + 8)));
  }
  if (threadIdx.x == 0) {
    *out = __half2float(__ushort_as_half(static_cast<unsigned short>(d[0])));
  }
}

int main() {
  constexpr int kMost = 4096, kTrials = 16;
  unsigned short *x, *y;
  float* out;
  cudaMallocManaged(&x, kMost * sizeof(*x));
  cudaMallocManaged(&y, kMost * sizeof(*y));
  cudaMallocManaged(&out, sizeof(*out));
  unsigned state = 1;
  const auto draw = [&] {
    state = state * 1664525u + 1013904223u;
    return (state >> 8) * 0x1p-24f;
  };
  std::printf("relative errors, root mean square of %d sums\n", kTrials);
  std::printf("   k    FP16, FP32 sums    BF16, FP32 sums    FP16, FP16 sums\n");
  for (int k = 16; k <= kMost; k *= 4) {
    double squares[3] = {};
    for (int trial = 0; trial < kTrials; ++trial) {
      std::vector<float> of_x(k), of_y(k);
      double exact = 0;
      for (int i = 0; i < k; ++i) {
        of_x[i] = draw(), of_y[i] = draw();
        exact += static_cast<double>(of_x[i]) * of_y[i];
      }
      for (int way = 0; way < 3; ++way) {
        for (int i = 0; i < k; ++i) {
          x[i] = way == 1 ? __bfloat16_as_ushort(__float2bfloat16(of_x[i])) : __half_as_ushort(__float2half(of_x[i]));
          y[i] = way == 1 ? __bfloat16_as_ushort(__float2bfloat16(of_y[i])) : __half_as_ushort(__float2half(of_y[i]));
        }
        if (way == 2) {
          half_sums<<<1, 32>>>(k, x, y, out);
        } else {
          float_sums<<<1, 32>>>(k, way == 1, x, y, out);
        }
        if (cudaDeviceSynchronize() != cudaSuccess) {
          return 1;
        }
        const double error = (*out - exact) / exact;
        squares[way] += error * error;
      }
    }
    std::printf("%4d", k);
    for (double sum : squares) {
      std::printf("%19.1e", std::sqrt(sum / kTrials));
    }
    std::printf("\n");
  }
  cudaFree(x);
  cudaFree(y);
  cudaFree(out);
}
