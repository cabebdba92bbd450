// x: (rows, columns), quantised to int8 in groups of 128 neighbours of a row; the last group of a row may be shorter.
// scale = largest |x| of the group / 127, and at least 1e-30; code = x / scale, rounded to nearest, ties to even.
// columns is a multiple of 4. Blocks of 256 threads, a warp for each group. No shared memory.
constexpr int kGroup = 128;
constexpr unsigned kAll = 0xffffffff;

__device__ unsigned code(float x, float scale) { return __float2int_rn(x / scale) & 0xff; }

__global__ void quantize(int rows, int columns, const float* x, signed char* codes, float* scales) {
  const int lane = threadIdx.x % 32;
  const int groups = (columns + kGroup - 1) / kGroup;  // of a row
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (warp >= rows * groups || lane > 0) {
    return;
  }
  // TODO: all lanes, four neighbours each, in registers. So far lane 0 does the whole group, and reads it twice.
  const int first = warp % groups * kGroup;
  const int place = warp / groups * columns + first;
  const int count = min(kGroup, columns - first);
  float largest = 0.0f;
  for (int i = 0; i < count; ++i) {
    largest = fmaxf(largest, fabsf(x[place + i]));
  }
  const float scale = fmaxf(largest / 127.0f, 1e-30f);
  for (int i = 0; i < count; ++i) {
    codes[place + i] = code(x[place + i], scale);
  }
  scales[warp] = scale;
}
