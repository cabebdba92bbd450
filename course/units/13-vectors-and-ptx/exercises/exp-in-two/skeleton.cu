// out[i] = e^(-t[i] / 2) by ex2.approx, right to a few units in the last place for |t| up to 170.
__device__ float exp2_approx(float x) {
  // TODO: one instruction, ex2.approx.ftz.f32, by inline PTX.
  return exp2f(x);
}

__global__ void decay(int n, const float* t, float* out) {
  constexpr float kLog2E = 1.44269502f;      // log2(e), rounded to a float
  constexpr float kRest = 1.92596303e-8f;    // what the rounding has cut off
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = -0.5f * t[i];
    // TODO: for large |x| this is off by tens of units in the last place. Cut x * log2(e) into a whole number and a rest.
    out[i] = exp2_approx(x * kLog2E);
  }
}
