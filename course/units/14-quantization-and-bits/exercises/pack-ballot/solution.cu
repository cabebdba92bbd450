// Which of n scores are at least `limit`, as bits: bit 7 - k of out[i] says it of x[8 i + k], beyond the end there is 0.
// Blocks of 256 threads; a warp has 1,024 scores. No shared memory. out begins at a multiple of 4 bytes.
constexpr int kThreads = 256;
constexpr int kChunk = 1024;
constexpr unsigned kAll = 0xffffffff;

__global__ void kept_bits(int n, float limit, const float* x, unsigned char* out) {
  const int lane = threadIdx.x % 32;
  const int first = (blockIdx.x * kThreads + threadIdx.x) / 32 * kChunk;
  unsigned own = 0;  // lane k: the k-th word
  for (int k = 0; k < 32; ++k) {
    const int i = first + 32 * k + lane;
    const unsigned votes = __ballot_sync(kAll, i < n && x[i] >= limit);
    if (lane == k) {
      own = __byte_perm(__brev(votes), 0, 0x0123);
    }
  }
  const int bytes = (n + 7) / 8;
  const int at = first / 8 + 4 * lane;
  if (at + 4 <= bytes) {
    *reinterpret_cast<unsigned*>(out + at) = own;
  } else {
    for (int b = 0; at + b < bytes; ++b) {
      out[at + b] = own >> (8 * b);
    }
  }
}
