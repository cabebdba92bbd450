// Elements with an even index go through a polynomial, those with an odd index through a maximum of products:
//   even i: out[i] = c[0] x[i]^(terms-1) + c[1] x[i]^(terms-2) + … + c[terms-1]
//   odd i:  out[i] = max(c[0] x[i], c[1] x[i], …, c[terms-1] x[i])
// A block of 256 threads has 512 elements, each of its threads two neighbours: one of either kind.
constexpr int kThreads = 256;

__device__ float polynomial(int terms, const float* c, float x) {
  float value = 0.0f;
  for (int k = 0; k < terms; ++k) {
    value = value * x + c[k];
  }
  return value;
}

__device__ float largest(int terms, const float* c, float x) {
  float value = -INFINITY;
  for (int k = 0; k < terms; ++k) {
    value = fmaxf(value, c[k] * x);
  }
  return value;
}

__global__ void two_kinds(int n, int terms, const float* c, const float* x, float* out) {
  const int even = blockIdx.x * 2 * kThreads + 2 * threadIdx.x;
  const int odd = even + 1;
  if (even < n) {
    out[even] = polynomial(terms, c, x[even]);
  }
  if (odd < n) {
    out[odd] = largest(terms, c, x[odd]);
  }
}
