// Scan, rung 1: every thread adds what stands 1, 2, 4 … places to its left.
//
//   maths    inclusive out[i] = x[0] ⊕ … ⊕ x[i]; exclusive out[i] = x[0] ⊕ … ⊕ x[i - 1]; a head starts anew
//   layout   in, heads, out: (n), contiguous; carries, totals: one per block (tile.cuh)
//   cost     n - 1 operations ⊕; at least n (sizeof(T) + sizeof(Out)) bytes, so memory bounds it on every GPU
//   idea     after log2(kThreads) doublings each element holds everything before it (Hillis and Steele, 1986). Two
//            arrays in turn: what is read in a step is not what is written in it, so one barrier per step is enough.
//   watch    n log2(n) operations, not n: every thread works in every step. And the input is read twice, once for
//            the blocks' totals: 12 bytes per float where 8 would do.
#include "tile.cuh"

constexpr int kThreads = 256;

template <class Op, class In, class Out>
__global__ void scan(long long n, const In* in, const unsigned char* heads, bool is_exclusive,
                     const typename Op::State* carries, typename Op::State* totals, Out* out) {
  using State = typename Op::State;
  __shared__ State states[2][kThreads];
  const Tile<Op, In> tile{n, in, heads, carries};
  const int t = threadIdx.x;
  const long long i = blockIdx.x * (long long)kThreads + t;
  const State mine = tile.load(i);
  int now = 0;
  states[now][t] = mine;
  __syncthreads();

  for (int distance = 1; distance < kThreads; distance *= 2) {
    State state = states[now][t];
    if (t >= distance) {
      state = Op::append(states[now][t - distance], state);
    }
    now = 1 - now;
    states[now][t] = state;
    __syncthreads();
  }

  if (totals != nullptr && t == kThreads - 1) {
    totals[blockIdx.x] = states[now][t];
  }
  if (out != nullptr && i < n) {
    const State before = t > 0 ? states[now][t - 1] : Op::identity();
    tile.write(out + i, is_exclusive, before, mine);
  }
}
