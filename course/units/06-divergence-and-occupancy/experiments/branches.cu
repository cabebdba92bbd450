// Maxima for some threads, minima for the others, of the same numbers: two loops of the same length.
__device__ float largest(int rounds, const float* x) {
  float most = x[0];
#pragma unroll 1
  for (int k = 1; k < rounds; ++k) {
    most = fmaxf(most, x[k]);
  }
  return most;
}

__device__ float smallest(int rounds, const float* x) {
  float least = x[0];
#pragma unroll 1
  for (int k = 1; k < rounds; ++k) {
    least = fminf(least, x[k]);
  }
  return least;
}

__global__ void by_lane(int rounds, const float* x, float* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = largest(rounds, x);
  } else {
    out[threadIdx.x] = smallest(rounds, x);
  }
}

__global__ void by_warp(int rounds, const float* x, float* out) {
  if (threadIdx.x / 32 % 2 == 0) {
    out[threadIdx.x] = largest(rounds, x);
  } else {
    out[threadIdx.x] = smallest(rounds, x);
  }
}

__global__ void short_ways(const float* x, float* out) {
  const float value = x[threadIdx.x];
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = value + 1.0f;
  } else {
    out[threadIdx.x] = -value;
  }
}
