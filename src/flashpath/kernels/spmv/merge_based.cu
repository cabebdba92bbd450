// SpMV, rung 3: equal work for every thread, whatever the rows.
//
//   maths    y[r] = Σ val[j] x[col[j]] for row_ptr[r] <= j < row_ptr[r + 1]
//   layout   CSR: row_ptr (rows + 1), col and val (nnz), row by row; x (cols), y (rows)
//            partials: one per tile, what tiles leave for `finish`
//   cost     2 nnz FLOPs; at least nnz (4 + 4) + 4 (2 rows + cols) bytes for floats and 32-bit indices
//   improves warp_per_row: one row of a million entries keeps the whole GPU busy, not one warp
//   idea     to multiply an entry is a step, to close a row is a step; all rows + nnz steps lie on one path
//            (merge_path.cuh), and a block takes kTile of them, wherever rows begin and end. Products are made first,
//            side by side and with kItems gathers in flight, and left in shared memory; four entries come with two
//            loads of 16 bytes. Then each thread walks kItems steps, an odd number, so that the walks fall into
//            different banks. What a thread has of a row it did not close goes on to the next threads by a segmented
//            scan; what a tile has of such a row, `finish` adds up, in a fixed order: no atomics, the same bits in
//            every run. Entries pass L1 by, or are given up first (load_once.cuh), and shared memory is kept small:
//            what is left of L1 holds the popular parts of x.
#include "../common/numbers.cuh"
#include "load_once.cuh"
#include "merge_path.cuh"

constexpr int kThreads = 256;

// What a tile leaves for others to finish.
template <class Sum>
struct Partial {
  long long first_row;  // that the tile has a step of
  Sum head;             // its part of that row, where it closes the row but did not begin it
  Sum tail;             // its part of the row that it leaves open
};

// The sum of the row that is open after a thread, or several: what they have of it, and whether it began there.
template <class Sum>
struct Open {
  Sum sum;
  bool began;
};

template <class Sum>
__device__ Open<Sum> join(Open<Sum> first, Open<Sum> second) {
  return {second.began ? second.sum : first.sum + second.sum, first.began || second.began};
}

// What is open before each thread of a block. All of its threads must come here.
template <class Sum>
__device__ Open<Sum> open_before(Open<Sum> own) {
  __shared__ Sum sum_of_warp[kThreads / 32];
  __shared__ bool began_in_warp[kThreads / 32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) {
    const Open<Sum> before{__shfl_up_sync(0xffffffff, own.sum, distance),
                           bool(__shfl_up_sync(0xffffffff, int(own.began), distance))};
    if (lane >= distance) {
      own = join(before, own);
    }
  }
  if (lane == 31) {
    sum_of_warp[warp] = own.sum;
    began_in_warp[warp] = own.began;
  }
  __syncthreads();
  Open<Sum> open{0, false};
  for (int w = 0; w < warp; ++w) {
    open = join(open, Open<Sum>{sum_of_warp[w], began_in_warp[w]});
  }
  const Open<Sum> before{__shfl_up_sync(0xffffffff, own.sum, 1), bool(__shfl_up_sync(0xffffffff, int(own.began), 1))};
  return lane == 0 ? open : join(open, before);
}

// The products of a tile's entries, one by one.
template <int kItems, class T, class Sum, class Index>
__device__ void multiply_singly(int entries, const Index* __restrict__ col, const T* __restrict__ val,
                                const T* __restrict__ x, Sum* product) {
  if (entries == 0) {
    return;
  }
  const int t = threadIdx.x;
  Index c[kItems];
  T v[kItems];
  // Threads past the last entry read that one: so no branch stands between the loads, and all are on their way.
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const int j = t + k * kThreads;
    const int from = j < entries ? j : entries - 1;
    c[k] = load_once(col + from);
    v[k] = load_once(val + from);
  }
  Sum own[kItems];
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    own[k] = widen(v[k]) * widen(x[c[k]]);
  }
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    if (t + k * kThreads < entries) {
      product[t + k * kThreads] = own[k];
    }
  }
}

// The same, kWidth entries at a time: `col`, `val` and `product` are aligned to 16 bytes, and the matrix has `there`
// entries from here on. The last pack may hold entries of the next tile; the matrix's last few may make none.
template <int kItems, int kWidth, class T, class Sum, class Index>
__device__ void multiply_packs(int entries, long long there, const Index* __restrict__ col, const T* __restrict__ val,
                               const T* __restrict__ x, Sum* product) {
  constexpr int kMost = kThreads * kItems + 2 * kWidth - 1;  // with those before the tile's first
  constexpr int kPacks = ((kMost + kWidth - 1) / kWidth + kThreads - 1) / kThreads;
  if (entries == 0) {
    return;
  }
  const int t = threadIdx.x;
  const int wanted = (entries + kWidth - 1) / kWidth * kWidth;
  const int packed = wanted <= there ? wanted : wanted - kWidth;
  Pack<Index> c[kPacks] = {};
  Pack<T> v[kPacks] = {};
  // The branch holds the loads together: without it the compiler puts gathers between them, in more registers.
  if (packed > 0) {
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const int j = kWidth * (t + k * kThreads);
      const int from = j < packed ? j : packed - kWidth;
      c[k] = load_pack_past_l1(col + from);
      v[k] = load_pack_past_l1(val + from);
    }
  }
  Pack<Sum> own[kPacks];
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      own[k].value[i] = widen(v[k].value[i]) * widen(x[c[k].value[i]]);
    }
  }
#pragma unroll
  for (int k = 0; k < kPacks; ++k) {
    const int j = kWidth * (t + k * kThreads);
    if (j < packed) {
      *reinterpret_cast<Pack<Sum>*>(product + j) = own[k];
    }
  }
  if (packed + t < entries) {
    product[packed + t] = widen(val[packed + t]) * widen(x[col[packed + t]]);
  }
}

// Five blocks on an SM, where their registers suffice for all loads: the compiler alone leaves room for four.
template <int kItems, int kWidth, class T, class Sum, class Index>
__global__ void __launch_bounds__(kThreads, kWidth > 1 && kItems <= 7 ? 5 : 1)
    spmv(long long rows, long long nnz, const Index* __restrict__ row_ptr, const Index* __restrict__ col,
         const T* __restrict__ val, const T* __restrict__ x, T* y, Partial<Sum>* partials) {
  constexpr int kTile = kThreads * kItems;
  static_assert(kWidth == 1 || (kWidth * sizeof(T) == 16 && kWidth * sizeof(Index) == 16 && sizeof(Sum) == sizeof(T)),
                "one load of 16 bytes each");
  __shared__ long long first_row[2];  // of this tile and of the next
  // Of each entry, with up to 2 kWidth - 1 before and kWidth - 1 behind them; then the ends of the rows that the tile
  // closes, and one more.
  __shared__ __align__(16) Sum product[kTile + 3 * kWidth - 1];
  const int t = threadIdx.x;
  const long long tile = blockIdx.x;
  const long long begin = tile * kTile;
  const long long left = rows + nnz - begin;
  const int steps = left < kTile ? int(left) : kTile;

  if (t < 64) {
    const long long row = rows_closed(row_ptr, rows, begin + (t < 32 ? 0 : steps));
    if (t % 32 == 0) {
      first_row[t / 32] = row;
    }
  }
  __syncthreads();
  const long long row = first_row[0], entry = begin - row;
  const int closes = int(first_row[1] - row), entries = steps - closes;

  // So many entries before the tile's first are multiplied, too: loads of 16 bytes begin where sectors do.
  const int skew = kWidth == 1 ? 0 : int(entry % (2 * kWidth));
  if constexpr (kWidth == 1) {
    multiply_singly<kItems>(entries, col + entry, val + entry, x, product);
  } else {
    multiply_packs<kItems, kWidth>(skew + entries, nnz - entry + skew, col + entry - skew, val + entry - skew, x,
                                   product);
  }
  // A tile has kTile steps, so products and ends share one array: what shared memory does not take, L1 has.
  int* row_end = reinterpret_cast<int*>(product + (skew + entries + kWidth - 1) / kWidth * kWidth);
#pragma unroll 1
  for (int i = t; i < closes; i += kThreads) {
    row_end[i] = int(row_ptr[row + i + 1] - entry);  // counted from the tile's first entry
  }
  if (t == 0) {
    row_end[closes] = kTile;  // the row that stays open
  }
  __syncthreads();

  // Where this thread's steps begin: row i of the tile, entry j of the tile.
  const int first = t * kItems < steps ? t * kItems : steps;
  int i = rows_closed_in_tile(row_end, closes, first);
  int j = first - i;
  const int closes_first = i;
  int end = row_end[i];
  Sum sum = 0, of_first = 0;
  // Some lane of a warp closes a row at nearly every step, so both kinds of step are one piece of code.
#pragma unroll
  for (int k = 0; k < kItems; ++k) {
    const bool adds = j < end && first + k < steps, ends = j >= end && first + k < steps;
    if (ends && i != closes_first) {
      y[row + i] = narrow<T>(sum);
    }
    of_first = ends && i == closes_first ? sum : of_first;  // what earlier threads have of it is not known yet
    sum = adds ? sum + product[skew + j] : ends ? Sum(0) : sum;
    i += ends;
    j += adds;
    end = row_end[i];
  }

  const Open<Sum> own_open{sum, i > closes_first};
  const Open<Sum> before = open_before(own_open);
  if (i > closes_first) {
    const Sum whole = before.sum + of_first;
    if (closes_first == 0 && row_ptr[row] < entry) {
      partials[tile].head = whole;  // earlier tiles have a part of it
    } else {
      y[row + closes_first] = narrow<T>(whole);
    }
  }
  if (t == kThreads - 1) {
    partials[tile].tail = join(before, own_open).sum;
    partials[tile].first_row = row;
  }
}

// A warp per tile: where the tile closes a row that began in earlier ones, their tails and its head are that row.
template <int kItems, int kWidth, class T, class Sum, class Index>
__global__ void finish(long long tiles, const Index* row_ptr, const Partial<Sum>* partials, T* y) {
  constexpr int kTile = kThreads * kItems;
  const long long tile = (blockIdx.x * (long long)blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (tile >= tiles) {
    return;
  }
  const long long row = partials[tile].first_row;
  const long long first = (row_ptr[row] + row) / kTile;     // the tile that the row begins in
  const long long last = (row_ptr[row + 1] + row) / kTile;  // the one that closes it
  if (last != tile || first == tile) {
    return;
  }
  Sum sum = 0;
#pragma unroll 4
  for (long long i = first + lane; i < tile; i += 32) {
    sum += partials[i].tail;
  }
#pragma unroll
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (lane == 0) {
    y[row] = narrow<T>(sum + partials[tile].head);
  }
}
