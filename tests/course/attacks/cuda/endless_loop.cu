// Never come to an end.
// timeout
extern "C" __global__ void answer(int n, const float* x, float* y) {
  volatile float* own = y;
  own[threadIdx.x] = 0.0f;
  while (own[threadIdx.x] >= 0.0f || true) own[threadIdx.x] += 1.0f;
}
