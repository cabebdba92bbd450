// One thread makes four groups of one copy each, and waits until PENDING of them may be on their way.
#include <cuda_pipeline.h>

__global__ void groups(const float* x, float* seen) {
  __shared__ float stages[4];
  for (int g = 0; g < 4; ++g) {
    stages[g] = 0.0f;
  }
  for (int g = 0; g < 4; ++g) {
    __pipeline_memcpy_async(&stages[g], &x[g], sizeof(float));
    __pipeline_commit();
  }
  __pipeline_wait_prior(PENDING);
  for (int g = 0; g < 4; ++g) {
    seen[g] = stages[g];
  }
  __pipeline_wait_prior(0);
}

__global__ void part(int there, const float* x, float* seen) {  // 16 bytes, of which the first 4 × there are read
  __shared__ __align__(16) float quad[4];
  for (int e = 0; e < 4; ++e) {
    quad[e] = 9.0f;
  }
  __pipeline_memcpy_async(quad, x, 16, 16 - 4 * there);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int e = 0; e < 4; ++e) {
    seen[e] = quad[e];
  }
}
