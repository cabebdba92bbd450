// Which weights dropout removes: Philox4x32-10 of their place and a seed, the bits of dropout.py.
//
// Four neighbouring keys of one query share the four words of one counter. A lane's accumulators are two keys of one
// query and two of another, or, where rows are keys, single keys of four queries: lanes that need words of the same
// counters compute one counter each and exchange.
#pragma once
#include "../../../common/tensor_core.cuh"
#include "../../device/mask.cuh"

struct Philox {
  unsigned key[2];

  __device__ explicit Philox(long long seed) : key{(unsigned)seed, (unsigned)((unsigned long long)seed >> 32)} {}

  __device__ uint4 operator()(unsigned c0, unsigned c1, unsigned c2, unsigned c3) const {
    unsigned k0 = key[0], k1 = key[1];
#pragma unroll
    for (int round = 0; round < 10; ++round) {
      const unsigned high0 = __umulhi(c0, 0xD2511F53u), low0 = c0 * 0xD2511F53u;
      const unsigned high1 = __umulhi(c2, 0xCD9E8D57u), low1 = c2 * 0xCD9E8D57u;
      c0 = high1 ^ c1 ^ k0, c1 = low1, c2 = high0 ^ c3 ^ k1, c3 = low0;
      k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
    }
    return {c0, c1, c2, c3};
  }
};

struct Dropout {
  Philox philox;
  unsigned of_head;  // batch · heads + head
  unsigned below;    // words below it drop

  __device__ Dropout(const AttentionShape& shape, int batch, int head, const long long* seed)
      : philox(*seed), of_head(batch * shape.heads + head), below(shape.drop_below) {}

  // The words of the four elements that a lane has of mma tile (r, n). Keys must begin at a multiple of 8.
  __device__ uint4 words(Corner<false> corner, int r, int n) const {
    const bool is_odd = threadIdx.x % 2;  // of two neighbours, four keys: the upper lane has the lower row's counter
    const uint4 own = philox(corner.key_at(r, n, 0) / 4, corner.query_at(r, n, is_odd ? 2 : 0), of_head, 0);
    const unsigned x = __shfl_xor_sync(~0u, is_odd ? own.x : own.z, 1);
    const unsigned y = __shfl_xor_sync(~0u, is_odd ? own.y : own.w, 1);
    return is_odd ? uint4{x, y, own.z, own.w} : uint4{own.x, own.y, x, y};
  }
  __device__ uint4 words(Corner<true> corner, int r, int n) const {
    const int turn = threadIdx.x / 4 % 4;  // among the lanes of four neighbouring keys
    const uint4 own = philox(corner.key_at(r, n, turn) / 4, corner.query_at(r, n, turn), of_head, 0);
    unsigned word[4] = {own.x, own.y, own.z, own.w};
    transpose_among_four<4>(word);
    return {word[0], word[1], word[2], word[3]};
  }

  template <bool kSwapped>
  __device__ void keeps(bool (&kept)[4], Corner<kSwapped> corner, int r, int n) const {
    const uint4 random = words(corner, r, n);
    kept[0] = random.x >= below, kept[1] = random.y >= below;
    kept[2] = random.z >= below, kept[3] = random.w >= below;
  }

  // 0 for the weights of an mma tile that are dropped; the others' factor is left to who sums them up.
  template <bool kSwapped>
  __device__ void drop(float (&p)[4], Corner<kSwapped> corner, int r, int n) const {
    bool kept[4];
    keeps(kept, corner, r, n);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      p[e] = kept[e] ? p[e] : 0.0f;
    }
  }
};
