// One function of x for each thread, as CUDA's mathematics offers it.
__global__ void inverse_root(const float* x, float* out) {
  out[threadIdx.x] = 1.0f / sqrtf(x[threadIdx.x]);
}

__global__ void logarithm(const float* x, float* out) {
  out[threadIdx.x] = logf(x[threadIdx.x]);
}

__global__ void fast_logarithm(const float* x, float* out) {
  out[threadIdx.x] = __logf(x[threadIdx.x]);
}

__global__ void hyperbolic_tangent(const float* x, float* out) {
  out[threadIdx.x] = tanhf(x[threadIdx.x]);
}

// Four neighbours a thread, written one by one.
__global__ void four_by_hand(const float* x, float* out) {
  const float* mine = x + 4 * threadIdx.x;
  out[threadIdx.x] = mine[0] + mine[1] + mine[2] + mine[3];
}
