// out[i] = e^(-t[i] / 2) by ex2.approx, right to a few units in the last place for |t| up to 170.
__device__ float exp2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

__global__ void decay(int n, const float* t, float* out) {
  constexpr float kLog2E = 1.44269502f;      // log2(e), rounded to a float
  constexpr float kRest = 1.92596303e-8f;    // what the rounding has cut off
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = -0.5f * t[i];
    const float whole = rintf(x * kLog2E);
    float rest = fmaf(x, kLog2E, -whole);  // rounded once, and |rest| is at most about 1/2
    rest = fmaf(x, kRest, rest);
    out[i] = exp2_approx(whole) * exp2_approx(rest);  // the first is exact
  }
}
