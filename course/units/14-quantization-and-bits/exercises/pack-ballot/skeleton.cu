// Which of n scores are at least `limit`, as bits: bit 7 - k of out[i] says it of x[8 i + k], beyond the end there is 0.
// Blocks of 256 threads; a warp has 1,024 scores. No shared memory. out begins at a multiple of 4 bytes.
constexpr int kThreads = 256;
constexpr int kChunk = 1024;
constexpr unsigned kAll = 0xffffffff;

__global__ void kept_bits(int n, float limit, const float* x, unsigned char* out) {
  const int lane = threadIdx.x % 32;
  const int first = (blockIdx.x * kThreads + threadIdx.x) / 32 * kChunk;
  // TODO: 32 scores by one vote, and 32 words by one store. So far a thread loads its eight scores one by one.
  for (int byte = first / 8 + lane; byte < (first + kChunk) / 8 && 8 * byte < n; byte += 32) {
    unsigned bits = 0;
    for (int k = 0; k < 8 && 8 * byte + k < n; ++k) {
      bits |= (x[8 * byte + k] >= limit) << (7 - k);
    }
    out[byte] = bits;
  }
}
