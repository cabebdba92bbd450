// The largest score of each row: a warp has a row, and goes through its keys
// in tiles of 64.
// kEven: the keys are whole tiles.
template <bool kEven>
__global__ void row_max(int rows, int keys, const float* s, float* out) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float m = -INFINITY;
  for (int first = 0; first < keys; first += 64) {
    for (int i = 0; i < 2; ++i) {
      const int key = first + 32 * i + lane;
      if (kEven || key < keys) m = fmaxf(m, s[row * keys + key]);
    }
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, distance));
  }
  if (lane == 0) out[row] = m;
}
