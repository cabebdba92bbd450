// out = p * factor where a weight is kept, 0 where it is dropped. Whether it is kept depends on its place and the seed alone:
// byte key % 16 of the 16 bytes that Philox, 7 rounds, makes of the counter (key / 16, query, head, 0) and the key (seed, 0)
// is at most `keep`, keep <= 255. p, out: (heads, queries, keys), or (heads, keys, queries) where swapped.
struct Words {
  unsigned word[4];
};

__device__ Words philox(unsigned c0, unsigned c1, unsigned c2, unsigned c3, unsigned k0, unsigned k1) {
#pragma unroll
  for (int round = 0; round < 7; ++round) {
    const unsigned high0 = __umulhi(c0, 0xD2511F53u), low0 = c0 * 0xD2511F53u;
    const unsigned high1 = __umulhi(c2, 0xCD9E8D57u), low1 = c2 * 0xCD9E8D57u;
    c0 = high1 ^ c1 ^ k0;
    c1 = low1;
    c2 = high0 ^ c3 ^ k1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

// A thread has 16 neighbouring keys of one query of one head: one counter.
__global__ void drop(int heads, int queries, int keys, int swapped, int seed, int keep, float factor, const float* p, float* out) {
  const int groups = (keys + 15) / 16, number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= heads * queries * groups) {
    return;
  }
  const int head = number / (queries * groups), rest = number % (queries * groups);
  const int query = swapped ? rest % queries : rest / groups;
  const int group = swapped ? rest / queries : rest % groups;
  const long long to_key = swapped ? queries : 1, to_query = swapped ? 1 : keys;
  const long long first = (long long)head * queries * keys + query * to_query + group * 16 * to_key;
  const Words random = philox(group, query, head, 0, seed, 0);
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (group * 16 + i < keys) {
      const int byte = random.word[i / 4] >> i % 4 * 8 & 255;
      const long long at = first + i * to_key;
      out[at] = byte <= keep ? p[at] * factor : 0.0f;
    }
  }
}
