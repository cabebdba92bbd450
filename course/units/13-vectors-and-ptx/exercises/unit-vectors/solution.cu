// Vectors of four floats, scaled to length 1: out = v / |v|. A zero vector stays zero.
__device__ float rsqrt_approx(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__global__ void unit_vectors(int n, const float4* v, float4* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) {
    return;
  }
  const float4 a = v[i];
  const float squares = a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w;
  const float inverse = rsqrt_approx(fmaxf(squares, 1e-36f));  // finite, and 0 times it is 0
  out[i] = make_float4(a.x * inverse, a.y * inverse, a.z * inverse, a.w * inverse);
}
