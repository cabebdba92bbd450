// out = p * factor where a weight is kept, 0 where it is dropped. Whether it is kept depends on its place and the seed alone:
// byte key % 16 of the 16 bytes that Philox, 7 rounds, makes of the counter (key / 16, query, head, 0) and the key (seed, 0)
// is at most `keep`. p, out: (heads, queries, keys), or (heads, keys, queries) where swapped.
struct Words {
  unsigned word[4];
};

__device__ Words philox(unsigned c0, unsigned c1, unsigned c2, unsigned c3, unsigned k0, unsigned k1) {
  // TODO: seven rounds.
  return {{c0, c1, c2, c3}};
}

// A thread has 16 neighbouring keys of one query of one head: one counter.
__global__ void drop(int heads, int queries, int keys, int swapped, int seed, int keep, float factor, const float* p, float* out) {
  const int groups = (keys + 15) / 16, number = blockIdx.x * blockDim.x + threadIdx.x;
  if (number >= heads * queries * groups) {
    return;
  }
  // TODO: head, query and group of this thread; where its keys lie; one counter for all sixteen.
}
