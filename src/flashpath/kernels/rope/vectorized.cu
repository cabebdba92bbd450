// Rotary position embedding, rung 3: 16-byte accesses, the angles in registers, several heads a thread.
//
//   maths    (a, b) → (a cos θ - b sin θ, b cos θ + a sin θ) of every pair of every head, θ of its position and pair
//   layout   q: (batch, sequence, heads, dim), k: (batch, sequence, kv_heads, dim), strided; outputs contiguous; cos, sin:
//            (rows, pairs), or a row for each token
//   cost     6 FLOPs a pair; at least 2 sizeof(T) bytes an element, and cos and sin once
//   improves by_token: an eighth of the memory instructions for half types, a quarter for float; no barrier, and all
//            loads of a thread are under way before it computes
//   idea     a thread owns kWidth neighbouring pairs: two packs, of the two halves or beside each other, and the angles of
//            both. It keeps these in registers for kHeads heads. threadIdx.x is (group of heads, unit of a head), so
//            that no number is divided that has more than 32 bits; threadIdx.y is a token. kWidth is narrower than 16
//            bytes where an address, a stride or the pairs ask for it.
#include "../common/pack.cuh"
#include "rope.cuh"

// kWidth angles, widened: by as many accesses of at most 16 bytes as that takes.
template <int kWidth, class C>
__device__ void read_angles(const C* from, float (&angles)[kWidth]) {
  constexpr int kPack = kWidth * sizeof(C) <= 16 ? kWidth : 16 / sizeof(C);
#pragma unroll
  for (int p = 0; p < kWidth; p += kPack) {
    const Pack<C, kPack> pack = read_only_pack<kPack>(from + p);
#pragma unroll
    for (int i = 0; i < kPack; ++i) angles[p + i] = float(pack.value[i]);
  }
}

// The pairs of two packs: pair i of halves is element i of both; of interleaved ones, two neighbours.
template <bool kInterleaved, class T, int kWidth>
__device__ void turn_packs(Pack<T, kWidth> (&x)[2], const float (&c)[kWidth], const float (&s)[kWidth]) {
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    T& first = kInterleaved ? x[2 * i / kWidth].value[2 * i % kWidth] : x[0].value[i];
    T& second = kInterleaved ? x[(2 * i + 1) / kWidth].value[(2 * i + 1) % kWidth] : x[1].value[i];
    const Pair pair = turned({float(first), float(second)}, c[i], s[i]);
    first = T(pair.first);
    second = T(pair.second);
  }
}

template <class T, class C, class Index, bool kInterleaved, int kWidth, int kHeads>
__global__ void rope_vectorized(long long tokens, int turning, int units, int work, const T* q, const T* k, T* q_out,
                                T* k_out, const C* cosines, const C* sines, const Index* positions,
                                RopeShape shape) {
  using P = Pack<T, kWidth>;
  const long long at = blockIdx.x * (long long)blockDim.y + threadIdx.y;
  if (at >= tokens) return;
  const int batch = int(at / shape.sequence), token = int(at - (long long)batch * shape.sequence);
  const int all_heads = shape.heads + shape.kv_heads;
  for (int item = threadIdx.x; item < work; item += blockDim.x) {
    const int group = item / units, unit = item - group * units;
    const bool turns = unit < turning;
    // A unit that turns has two packs, of which the second is this far behind the first.
    const int gap = kInterleaved ? kWidth : shape.pairs;
    const int first = turns ? (kInterleaved ? 2 : 1) * unit * kWidth : (turning + unit) * kWidth;

    const T* from[kHeads];
    T* to[kHeads];
    P x[kHeads][2];
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      const int either = group * kHeads + h;
      if (either >= all_heads) break;
      const bool is_k = either >= shape.heads;
      const int head = is_k ? either - shape.heads : either;
      const long long* strides = is_k ? shape.k : shape.q;
      from[h] = (is_k ? k : q) + batch * strides[0] + token * strides[1] + head * strides[2] + first;
      to[h] = (is_k ? k_out : q_out) + (at * (is_k ? shape.kv_heads : shape.heads) + head) * shape.dim + first;
      x[h][0] = read_only_pack<kWidth>(from[h]);
      if (turns) x[h][1] = read_only_pack<kWidth>(from[h] + gap);
    }
    float c[kWidth], s[kWidth];
    const long long row = turns ? angle_row(shape, positions, batch, token) : -1;
    if (row >= 0) {
      read_angles(cosines + batch * shape.cosine[0] + row * shape.cosine[1] + unit * kWidth, c);
      read_angles(sines + batch * shape.sine[0] + row * shape.sine[1] + unit * kWidth, s);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) s[i] *= shape.sign;
    }
#pragma unroll
    for (int h = 0; h < kHeads; ++h) {
      if (group * kHeads + h >= all_heads) break;
      if (row >= 0) turn_packs<kInterleaved>(x[h], c, s);
      write_pack(to[h], x[h][0]);
      if (turns) write_pack(to[h] + gap, x[h][1]);
    }
  }
}
