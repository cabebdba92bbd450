// SpMV, rung 2: a warp, or a part of one, for each row.
//
//   maths    y[r] = Σ val[j] x[col[j]] for row_ptr[r] <= j < row_ptr[r + 1]
//   layout   CSR: row_ptr (rows + 1), col and val (nnz), row by row; x (cols), y (rows)
//   cost     2 nnz FLOPs; at least nnz (4 + 4) + 4 (2 rows + cols) bytes for floats and 32-bit indices
//   improves thread_per_row: neighbours read neighbours, so entries come in whole sectors, and a long row has up to
//            32 threads
//   idea     kLanes threads share a row, kWidth entries after kWidth entries in turn, and add up their sums by
//            shuffles. A warp for a row of five entries would leave 27 lanes idle: the host picks kLanes by the rows'
//            mean length. Four entries come with two loads of 16 bytes, from wherever 16 bytes begin; a row's first
//            and last few, which share theirs with other rows, come one by one. Where a row's lanes read whole
//            sectors, L1 gives entries up before x (load_once.cuh).
//   watch    the mean says nothing of a matrix with a few very long rows: a warp alone still walks through each.
#include "../common/numbers.cuh"
#include "load_once.cuh"

constexpr int kThreads = 256;

// Of a row with few lanes L1 keeps what is left of a line, for the next steps and the neighbours.
template <int kLanes, class T>
__device__ T load(const T* from) {
  if constexpr (kLanes >= 16) {
    return load_once(from);
  } else {
    return *from;
  }
}

template <int kLanes, int kWidth, class T, class Index>
__global__ void __launch_bounds__(kThreads)
    spmv(long long rows, const Index* __restrict__ row_ptr, const Index* __restrict__ col,
         const T* __restrict__ val, const T* __restrict__ x, T* y) {
  static_assert(kLanes > 0 && kLanes <= 32 && (kLanes & (kLanes - 1)) == 0, "a warp halves down to one lane");
  static_assert(kWidth == 1 || (kWidth * sizeof(T) == 16 && kWidth * sizeof(Index) == 16), "one load of 16 bytes each");
  const long long row = blockIdx.x * (long long)(kThreads / kLanes) + threadIdx.x / kLanes;
  const int lane = threadIdx.x % kLanes;

  // Threads beyond the last row stay, empty-handed: shuffles want the whole warp.
  decltype(widen(*val)) sum = 0;
  if (row < rows) {
    // In 64 bits: the step past a row's last entry may pass 2^31.
    const long long begin = row_ptr[row], end = row_ptr[row + 1];
    if constexpr (kWidth == 1) {
#pragma unroll 4
      for (long long j = begin + lane; j < end; j += kLanes) {
        sum += widen(load<kLanes>(val + j)) * widen(x[load<kLanes>(col + j)]);
      }
    } else {
#pragma unroll 1
      for (long long j = begin / kWidth * kWidth + kWidth * lane; j < end; j += kWidth * kLanes) {
        if (j >= begin && j + kWidth <= end) {
          const Pack<Index> c = load_pack_once(col + j);
          const Pack<T> v = load_pack_once(val + j);
          decltype(sum) of_pack = 0;
#pragma unroll
          for (int k = 0; k < kWidth; ++k) {
            of_pack += widen(v.value[k]) * widen(x[c.value[k]]);
          }
          sum += of_pack;
        } else {
          for (long long i = j < begin ? begin : j; i < end && i < j + kWidth; ++i) {
            sum += widen(val[i]) * widen(x[col[i]]);
          }
        }
      }
    }
  }
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance, kLanes);
  }
  if (row < rows && lane == 0) {
    y[row] = narrow<T>(sum);
  }
}
