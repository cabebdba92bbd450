// Softmax, rung 6: long rows cut into parts, a block for each.
//
//   maths    {m, l} of each part; {m, l} of the row from these; out[r, i] = e^(x[r, i] - m) / l
//   layout   x, out: (rows, n), contiguous, at any address, the same modulo 16; states: (rows, parts)
//   cost     8 rows n FLOPs; at least 2 rows n sizeof(T) bytes, of which this rung reads x twice
//   improves resident: rows of any length, and few rows fill the GPU too: of one row of 2^20 elements resident could
//            use one SM of 132
//   idea     the parts' {m, l} can be combined, so blocks need not know of each other: the first launch leaves them in
//            memory, in the second each block combines those of its row, always in the same order, and writes its part.
//            The second launch goes from the last part to the first: what the first has read last is still in the L2.
#include "../common/softmax/part.cuh"

constexpr int kThreads = 256;
constexpr int kPacksAtOnce = 4;

template <class T, int kWidth, bool kIsWhole>
__global__ void __launch_bounds__(kThreads)
    part_states(long long n, const T* __restrict__ x, int parts, int packs_per_part, State<Compute<T>>* states) {
  using C = Compute<T>;
  using Row = PackedRow<T, kWidth, kIsWhole>;
  using P = typename Row::P;
  const long long r = blockIdx.x / parts;
  const Part part = part_of_row<T, kWidth, kIsWhole>(x + r * n, n, blockIdx.x % parts, packs_per_part);
  const T* mine = x + r * n + part.start;
  const Row packed(mine, part.length);

  State<C> state{lowest<C>(), 0};
  for (int start = threadIdx.x; start < packs_per_part; start += kPacksAtOnce * kThreads) {
    typename Row::Word held[kPacksAtOnce];
    C m = state.m;
#pragma unroll
    for (int k = 0; k < kPacksAtOnce; ++k) {
      held[k] = packed.load(mine, start + k * kThreads, narrow<T>(lowest<C>()));
    }
#pragma unroll
    for (int k = 0; k < kPacksAtOnce; ++k) {
      const P pack = Row::unpack(held[k]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        m = larger(m, widen(pack.value[i]));
      }
    }
    const C shift = finite_or_zero(m);
    C l = sum_relative_to(m, state);
#pragma unroll
    for (int k = 0; k < kPacksAtOnce; ++k) {
      const P pack = Row::unpack(held[k]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        l += exp_of_difference(widen(pack.value[i]), shift);
      }
    }
    state = {m, l};
  }
  state = combine_block<kThreads>(state);
  if (threadIdx.x == 0) {
    states[blockIdx.x] = state;
  }
}

template <class T, int kWidth, bool kIsWhole>
__global__ void __launch_bounds__(kThreads)
    write_parts(long long n, const T* __restrict__ x, int parts, int packs_per_part,
                const State<Compute<T>>* __restrict__ states, T* __restrict__ out) {
  using C = Compute<T>;
  using Row = PackedRow<T, kWidth, kIsWhole>;
  using P = typename Row::P;
  const unsigned block = gridDim.x - 1 - blockIdx.x;
  const long long r = block / parts;
  State<C> state{lowest<C>(), 0};
  for (int p = threadIdx.x; p < parts; p += kThreads) {
    state = combine(state, states[r * parts + p]);
  }
  state = combine_block<kThreads>(state);
  const C scale = 1 / state.l;

  const Part part = part_of_row<T, kWidth, kIsWhole>(x + r * n, n, block % parts, packs_per_part);
  const T* mine = x + r * n + part.start;
  const Row packed(mine, part.length);
  for (int start = threadIdx.x; start < packs_per_part; start += kPacksAtOnce * kThreads) {
    typename Row::Word held[kPacksAtOnce];
#pragma unroll
    for (int k = 0; k < kPacksAtOnce; ++k) {
      held[k] = packed.load(mine, start + k * kThreads, narrow<T>(lowest<C>()));
    }
#pragma unroll
    for (int k = 0; k < kPacksAtOnce; ++k) {
      P pack = Row::unpack(held[k]);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) {
        pack.value[i] = narrow<T>(exp_of_difference(widen(pack.value[i]), state.m) * scale);
      }
      packed.store(out + r * n + part.start, start + k * kThreads, pack);
    }
  }
}
