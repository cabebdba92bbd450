// Each thread reads one piece of x, and adds up what is in it. The pieces differ in size and in alignment.
#include <cuda_fp16.h>

struct Three {
  float x, y, z;  // 12 bytes, aligned to 4
};
struct Four {
  float x, y, z, w;  // 16 bytes, aligned to 4
};
struct alignas(16) Aligned {
  float x, y, z, w;  // 16 bytes, aligned to 16
};

__global__ void threes(const float* x, float* out) {
  const Three p = reinterpret_cast<const Three*>(x)[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.z;
}

__global__ void fours(const float* x, float* out) {
  const Four p = reinterpret_cast<const Four*>(x)[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.z + p.w;
}

__global__ void aligned_fours(int first, const float* x, float* out) {
  const Aligned p = reinterpret_cast<const Aligned*>(x + first)[threadIdx.x];
  out[threadIdx.x] = p.x + p.y + p.z + p.w;
}

__global__ void eight_halves(const __half* h, float* out) {
  const int4 bits = reinterpret_cast<const int4*>(h)[threadIdx.x];
  const __half2* pairs = reinterpret_cast<const __half2*>(&bits);
  float sum = 0.0f;
  for (int k = 0; k < 4; ++k) {
    sum += __low2float(pairs[k]) + __high2float(pairs[k]);
  }
  out[threadIdx.x] = sum;
}
