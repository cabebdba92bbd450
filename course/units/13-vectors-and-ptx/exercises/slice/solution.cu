// x[first + i] *= a for i = 0 … n - 1: a slice of an array, in place. x itself is aligned to 16 bytes.
__global__ void scale_slice(int n, int first, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = min(n, (4 - first % 4) % 4);  // elements before the first border of 16 bytes
  const int packs = (n - head) / 4;
  float* body = x + first + head;
  if (i < packs) {
    float4 v = reinterpret_cast<float4*>(body)[i];
    v.x *= a;
    v.y *= a;
    v.z *= a;
    v.w *= a;
    reinterpret_cast<float4*>(body)[i] = v;
  }
  if (i < head) {
    x[first + i] *= a;
  }
  const int last = head + 4 * packs + i;
  if (last < n) {
    x[first + last] *= a;
  }
}
