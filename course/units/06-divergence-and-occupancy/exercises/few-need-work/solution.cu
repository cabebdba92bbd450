// Elements of kind 0 take the long way, a polynomial of u = x / (1 + |x|); all others stay as they are:
//   kind[i] == 0: out[i] = c[0] u^(terms-1) + c[1] u^(terms-2) + … + c[terms-1]
//   else:         out[i] = x[i]
// A block of 256 threads has 1,024 elements. It first lists those that need work, then shares the list out.
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
  __shared__ int to_do[kElements];
  __shared__ int count;
  if (threadIdx.x == 0) {
    count = 0;
  }
  __syncthreads();

  const int first = blockIdx.x * kElements;
  for (int own = threadIdx.x; own < kElements; own += kThreads) {
    const int i = first + own;
    if (i < n) {
      if (kind[i] == 0) {
        to_do[atomicAdd(&count, 1)] = i;
      } else {
        out[i] = x[i];
      }
    }
  }
  __syncthreads();

  for (int place = threadIdx.x; place < count; place += kThreads) {
    const int i = to_do[place];
    out[i] = long_way(terms, c, x[i]);
  }
}
