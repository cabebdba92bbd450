// Four kernels for one block: who takes the way over a, and who the way over b?
__device__ float over(const float* values, int steps) {
  float sum = 0.0f;
#pragma unroll 1
  for (int step = 0; step < steps; ++step) {
    sum += values[step];
  }
  return sum;
}

__global__ void every_other(int steps, const float* a, const float* b, float* out) {
  const int t = threadIdx.x;
  if (t % 2 == 0) {
    out[t] = over(a, steps);
  } else {
    out[t] = 1.0f - over(b, steps);
  }
}

__global__ void warp_by_warp(int steps, const float* a, const float* b, float* out) {
  const int t = threadIdx.x;
  if (t / 32 % 2 == 0) {
    out[t] = over(a, steps);
  } else {
    out[t] = 1.0f - over(b, steps);
  }
}

__global__ void the_first(int steps, const float* a, const float* b, float* out) {
  const int t = threadIdx.x;
  if (t < 40) {
    out[t] = over(a, steps);
  } else {
    out[t] = 1.0f - over(b, steps);
  }
}

__global__ void own_length(int steps, const float* a, float* out) {
  const int t = threadIdx.x;
  out[t] = over(a, t % steps);
}
