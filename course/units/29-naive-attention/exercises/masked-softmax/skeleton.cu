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
  if (lane == 0) {  // TODO: all lanes, and every score fetched once
    float largest = -INFINITY, total = 0.0f;
    for (int key = 0; key < m; ++key) {
      largest = fmaxf(largest, s[key]);
    }
    for (int key = 0; key < m; ++key) {
      total += expf(s[key] - largest);
    }
    for (int key = 0; key < m; ++key) {
      p[key] = expf(s[key] - largest) / total;
    }
  }
}
