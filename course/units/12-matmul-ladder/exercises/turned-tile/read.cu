// One warp reads a row of 64 words of a tile; thread x needs four words of it, and thread x + 16 the same four.

__global__ void neighbours(const float* a, float* out) {  // words 4 x to 4 x + 3, one by one
  __shared__ volatile float words[64];
  const int t = threadIdx.x, x = t % 16;
  words[t] = a[t];
  words[t + 32] = a[t + 32];
  __syncwarp();
  float sum = 0.0f;
  for (int e = 0; e < 4; ++e) {
    sum += words[4 * x + e];
  }
  out[t] = sum;
}

__global__ void apart(const float* a, float* out) {  // words x, x + 16, x + 32, x + 48, one by one
  __shared__ volatile float words[64];
  const int t = threadIdx.x, x = t % 16;
  words[t] = a[t];
  words[t + 32] = a[t + 32];
  __syncwarp();
  float sum = 0.0f;
  for (int e = 0; e < 4; ++e) {
    sum += words[x + 16 * e];
  }
  out[t] = sum;
}

__global__ void quads(const float* a, float* out) {  // words 4 x to 4 x + 3, in one access of 16 bytes
  __shared__ __align__(16) float words[64];
  const int t = threadIdx.x, x = t % 16;
  words[t] = a[t];
  words[t + 32] = a[t + 32];
  __syncwarp();
  const float4 four = *reinterpret_cast<const float4*>(&words[4 * x]);
  out[t] = (four.x + four.y) + (four.z + four.w);
}
