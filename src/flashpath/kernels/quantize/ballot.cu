// Quantisation, rung 2: a warp votes 32 bits at once. For packbits and segment_packbits.
//
//   maths    packbits: bit 7 - k (big order) or k (little) of out[i] = x[8 i + k] != 0; beyond the end 0
//            segment_packbits: the same in each segment x[begin[s]] … x[begin[s + 1] - 1], from a byte of its own on
//   layout   x (n) bytes, out (⌈n / 8⌉) bytes; begin, out_begin: (segments + 1)
//   cost     n comparisons with 0; at least 9/8 n bytes
//   improves simple: neighbouring lanes read neighbouring bytes, and no bit is shifted into place by itself
//   idea     `__ballot_sync` collects one bit of each lane: element k of 32 is bit k, four output bytes in little
//            order; reversing each byte's bits makes it big. A warp votes 32 times, lane k keeps the k-th word, and
//            all 32 are stored together.
//   watch    a load brings a warp 32 bytes, where it could bring 512. In segment_packbits a block takes a segment:
//            few long segments leave most of the GPU idle.
constexpr int kThreads = 256;
constexpr int kVotes = 32;
constexpr int kChunk = 32 * kVotes;  // elements that a warp takes at once

template <bool kIsBig>
__device__ unsigned ordered(unsigned votes) {
  return kIsBig ? __byte_perm(__brev(votes), 0, 0x0123) : votes;  // all bits reversed, then the bytes put back
}

// Up to kChunk elements by one warp; what lies beyond `count` is 0, and no byte is written for it alone.
template <bool kIsBig>
__device__ void pack_chunk(const unsigned char* x, long long count, unsigned char* out) {
  const int lane = threadIdx.x % 32;
  unsigned mine = 0;
#pragma unroll 8
  for (int k = 0; k < kVotes; ++k) {
    const int i = 32 * k + lane;
    const unsigned votes = __ballot_sync(0xffffffff, i < count && x[i] != 0);
    if (lane == k) {
      mine = ordered<kIsBig>(votes);
    }
  }
  const long long bytes = (count + 7) / 8 - 4 * lane;  // from this lane's word on
  out += 4 * lane;
  if (bytes >= 4 && reinterpret_cast<unsigned long long>(out) % 4 == 0) {
    *reinterpret_cast<unsigned*>(out) = mine;
  } else {
    for (int b = 0; b < 4 && b < bytes; ++b) {
      out[b] = mine >> (8 * b);
    }
  }
}

template <bool kIsBig>
__global__ void packbits(long long n, const unsigned char* x, unsigned char* out) {
  const long long first = (blockIdx.x * (long long)(kThreads / 32) + threadIdx.x / 32) * kChunk;
  if (first < n) {
    pack_chunk<kIsBig>(x + first, n - first, out + first / 8);
  }
}

template <bool kIsBig, class Index>
__global__ void segment_packbits(const unsigned char* x, const Index* begin, const Index* out_begin,
                                 unsigned char* out) {
  x += begin[blockIdx.x];
  out += out_begin[blockIdx.x];
  const long long n = begin[blockIdx.x + 1] - begin[blockIdx.x];
  for (long long first = threadIdx.x / 32 * kChunk; first < n; first += kThreads / 32 * kChunk) {
    pack_chunk<kIsBig>(x + first, n - first, out + first / 8);
  }
}
