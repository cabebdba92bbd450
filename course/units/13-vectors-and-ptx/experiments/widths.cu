// Copies n floats, kWidth of them with each access. n is a multiple of kWidth here, and nothing is left over.
template <int kWidth>
struct alignas(kWidth * sizeof(float)) Pack {
  float value[kWidth];
};

template <int kWidth>
__global__ void copy(int n, const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / kWidth) {
    reinterpret_cast<Pack<kWidth>*>(out)[i] = reinterpret_cast<const Pack<kWidth>*>(x)[i];
  }
}
