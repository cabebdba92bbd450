// A signal with a period of 128: y[r, t] = the sum over all periods p of x[r, p, t] x[r, p, (t + 1) % 128].
// x: (rows, periods, 128), y: (rows, 128), row by row. Block r of 128 threads has row r. Two stages: while one period
// is multiplied, the next is on its way.
#include <cuda_pipeline.h>

constexpr int kPeriod = 128;

__global__ void neighbours(int periods, const float* x, float* y) {
  __shared__ float stages[2][kPeriod];
  const int t = threadIdx.x;
  const float* from = x + (long long)blockIdx.x * periods * kPeriod;
  auto fetch = [&](int p) {
    if (p < periods) {
      __pipeline_memcpy_async(&stages[p % 2][t], &from[p * kPeriod + t], sizeof(float));
    }
    __pipeline_commit();  // also of nothing: the count of groups stays the same
  };

  fetch(0);
  float sum = 0.0f;
  for (int p = 0; p < periods; ++p) {
    fetch(p + 1);
    __pipeline_wait_prior(1);  // all but the newest group have arrived
    __syncthreads();
    sum += stages[p % 2][t] * stages[p % 2][(t + 1) % kPeriod];
    __syncthreads();  // nobody reads this stage any more
  }
  y[blockIdx.x * kPeriod + t] = sum;
}
