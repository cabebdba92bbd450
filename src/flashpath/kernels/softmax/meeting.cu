// Softmax, rung 7: the blocks of a row meet, each with its part in registers.
//
//   maths    {m, l} of each part; {m, l} of the row from these; out[r, i] = e^(x[r, i] - m) / l
//   layout   x, out: (rows, n), contiguous, at any address, the same modulo 16; states: (rows, parts)
//            ticket: (1) and visits: (rows), all 0 before the launch, and all 0 after it
//   cost     5 rows n FLOPs; at least 2 rows n sizeof(T) bytes
//   improves split_rows: one launch and one read. A block keeps its part while the others read theirs
//   idea     a block leaves its {m, l}, counts itself in, and waits until all blocks of its row have. They must run at
//            the same time, which no GPU promises by their numbers: so a block draws its number when it starts. Numbers
//            are drawn in order, so of the rows that blocks wait for only the last can lack a block, and gets it when
//            a block of another row ends: it is enough that the GPU holds the blocks of one row. Who leaves counts
//            itself again; the count then wraps round to 0 by itself (`atomicInc`), ready for the next launch.
//            As in resident, more packs are parked in shared memory where rows are many, so that a meeting is for
//            128 KB, not for 32, and an SM has two blocks, one of which moves data while the other waits.
#include "on_chip.cuh"
#include "../common/softmax/part.cuh"

template <class T, int kWidth, bool kIsWhole, int kThreads, int kPacks, int kParkedPairs>
__global__ void __launch_bounds__(kThreads, 1024 / kThreads)
    softmax(long long n, const T* __restrict__ x, int parts, State<Compute<T>>* states, unsigned* ticket,
            unsigned* visits, T* __restrict__ out) {
  using C = Compute<T>;
  using Row = PackedRow<T, kWidth, kIsWhole>;
  using Word = typename Row::Word;
  extern __shared__ __align__(16) unsigned char memory[];
  Word* parked = reinterpret_cast<Word*>(memory) + threadIdx.x;  // (2 kParkedPairs, kThreads)
  const T outside = narrow<T>(lowest<C>());
  __shared__ unsigned number;
  if (threadIdx.x == 0) {
    number = atomicInc(ticket, gridDim.x - 1);
  }
  __syncthreads();
  const long long r = number / parts;
  constexpr int kPartPacks = kThreads * (kPacks + 2 * kParkedPairs);
  const Part part = part_of_row<T, kWidth, kIsWhole>(x + r * n, n, number % parts, kPartPacks);
  const T* mine = x + r * n + part.start;
  const Row packed(mine, part.length);

  Word held[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    held[k] = packed.load(mine, threadIdx.x + k * kThreads, outside);
  }
#pragma unroll
  for (int k = 0; k < 2 * kParkedPairs; ++k) {
    packed.park(&parked[k * kThreads], mine, threadIdx.x + (kPacks + k) * kThreads, outside);
  }
  commit_copies();

  C kept[kPacks * kWidth];
  State<C> state = keep_exponentials<Row>(held, kept);
  const C m_of_kept = state.m;
  wait_for_copies<0>();
#pragma unroll
  for (int k = 0; k < kParkedPairs; ++k) {
    state = with_pair<Row>(state, parked[2 * k * kThreads], parked[(2 * k + 1) * kThreads]);
  }
  state = combine_block<kThreads>(state);

  __shared__ State<C> of_row;
  if (threadIdx.x < 32) {
    volatile unsigned* visited = visits + r;
    if (threadIdx.x == 0) {
      states[number] = state;
      __threadfence();  // the state before the count
      atomicInc(&visits[r], 2 * parts - 1);
      while (*visited < parts) {
      }
      __threadfence();  // the count before the others' states
    }
    __syncwarp();
    State<C> all{lowest<C>(), 0};
    for (int p = threadIdx.x; p < parts; p += 32) {
      all = combine(all, {__ldcg(&states[r * parts + p].m), __ldcg(&states[r * parts + p].l)});
    }
    all = combine_lanes<32>(all);
    if (threadIdx.x == 0) {
      atomicInc(&visits[r], 2 * parts - 1);
      of_row = all;
    }
  }
  __syncthreads();

  const C scale = 1 / of_row.l;
  const C scale_of_kept = exp_of_difference(m_of_kept, of_row.m) * scale;
  T* out_part = out + r * n + part.start;
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    packed.store(out_part, threadIdx.x + k * kThreads, scaled<Row>(&kept[k * kWidth], scale_of_kept));
  }
#pragma unroll
  for (int k = 0; k < 2 * kParkedPairs; ++k) {
    const auto pack = scaled_exponentials<Row>(parked[k * kThreads], of_row.m, scale);
    packed.store(out_part, threadIdx.x + (kPacks + k) * kThreads, pack);
  }
}
