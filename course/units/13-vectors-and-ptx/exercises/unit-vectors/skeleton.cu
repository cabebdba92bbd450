// Vectors of four floats, scaled to length 1: out = v / |v|. A zero vector stays zero.
__device__ float rsqrt_approx(float x) {
  // TODO: one instruction, rsqrt.approx.ftz.f32, by inline PTX.
  return 1.0f / sqrtf(x);
}

__global__ void unit_vectors(int n, const float4* v, float4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float* a = reinterpret_cast<const float*>(v + i);
  float squares = 0.0f;
  for (int k = 0; k < 4; ++k) {
    squares += a[k] * a[k];
  }
  for (int k = 0; k < 4; ++k) {
    reinterpret_cast<float*>(out + i)[k] = a[k] * rsqrt_approx(squares);
  }
}
