// Pass 2 of naive attention, with scale and mask in it: p[i, :] = softmax(scale · s[i, :]), 0 where a key is hidden.
// s, p: (n, m), float32, row by row; m >= n, m <= 256. Query i sees the keys 0 to i + m - n.
// Blocks of 128 threads: a warp takes a row. Lane l has the keys l, l + 32, l + 64, …
constexpr int kPerLane = 8;

__global__ void softmax(int n, int m, float scale, const float* s, float* p) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * 4 + threadIdx.x / 32;
  if (row >= n) return;  // a whole warp
  const int seen = row + m - n + 1;
  s += row * m;
  p += row * m;

  float z[kPerLane];
  float largest = -INFINITY;
#pragma unroll
  for (int e = 0; e < kPerLane; ++e) {
    const int key = lane + 32 * e;
    z[e] = key < seen ? scale * s[key] : -INFINITY;
    largest = fmaxf(largest, z[e]);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, distance));
  }
  float total = 0.0f;
#pragma unroll
  for (int e = 0; e < kPerLane; ++e) {
    z[e] = expf(z[e] - largest);
    total += z[e];
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    total += __shfl_xor_sync(0xffffffff, total, distance);
  }
#pragma unroll
  for (int e = 0; e < kPerLane; ++e) {
    const int key = lane + 32 * e;
    if (key < m) p[key] = z[e] / total;
  }
}
