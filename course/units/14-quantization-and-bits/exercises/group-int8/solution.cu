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
  if (warp >= rows * groups) {
    return;  // all lanes of the warp
  }
  const int column = warp % groups * kGroup + 4 * lane;
  const bool exists = column < columns;
  const int place = warp / groups * columns + column;
  float4 own = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (exists) {
    own = *reinterpret_cast<const float4*>(x + place);
  }

  float largest = fmaxf(fmaxf(fabsf(own.x), fabsf(own.y)), fmaxf(fabsf(own.z), fabsf(own.w)));
  for (int distance = 16; distance > 0; distance /= 2) {
    largest = fmaxf(largest, __shfl_xor_sync(kAll, largest, distance));
  }
  const float scale = fmaxf(largest / 127.0f, 1e-30f);
  if (exists) {
    const unsigned four =
        code(own.x, scale) | code(own.y, scale) << 8 | code(own.z, scale) << 16 | code(own.w, scale) << 24;
    *reinterpret_cast<unsigned*>(codes + place) = four;
  }
  if (lane == 0) {
    scales[warp] = scale;
  }
}
