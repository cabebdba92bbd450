// Elements of kind 0 take the long way, a polynomial of u = x / (1 + |x|); all others stay as they are:
//   kind[i] == 0: out[i] = c[0] u^(terms-1) + c[1] u^(terms-2) + … + c[terms-1]
//   else:         out[i] = x[i]
// A block of 256 threads has 1,024 elements.
constexpr int kThreads = 256;
constexpr int kElements = 1024;

__device__ float long_way(int terms, const float* c, float x) {
  const float u = x / (1.0f + fabsf(x));
  float value = 0.0f;
  for (int k = 0; k < terms; ++k) {
    value = value * u + c[k];
  }
  return value;
}

__global__ void few_need_work(int n, int terms, const float* c, const int* kind, const float* x, float* out) {
  // TODO: first list the elements that need work, in shared memory; then share the list out among all threads.
  const int first = blockIdx.x * kElements;
  for (int own = threadIdx.x; own < kElements; own += kThreads) {
    const int i = first + own;
    if (i < n) {
      out[i] = kind[i] == 0 ? long_way(terms, c, x[i]) : x[i];
    }
  }
}
