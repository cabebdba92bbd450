// Sort, rung 2: radix, one pass for each digit of 4 bits: count, scan, scatter.
//
//   maths    out = x in rising order; equal keys stay in the order they came in
//   layout   in, out: (n), contiguous; counts: (kDigits, tiles); totals: (kDigits), 0 before count_digits.
//            in_index, out_index: (n), or null: where each key came from; indices: (n), in the last pass, or null
//   cost     at least 2 n sizeof(T) bytes; here 8 passes for keys of 32 bits, each reading them twice and writing once
//   improves bitonic: the work grows with n, not with n log2(n)^2, and no two keys are ever compared
//   idea     sorted by its lowest digit, then stably by the next, and so on, a sequence is sorted by all of them. To
//            sort by one digit, count: a key goes to the place "keys of lower digits + keys of this digit before it".
//            Tiles count first; a scan of the counts tells each where its keys of each digit go; in a tile each
//            thread has counters of its own for the keys that it owns, 16 neighbours, and a scan over these does the
//            rest.
//   watch    a warp's 32 stores go to 32 places, each a sector of 32 bytes for 4 bytes of use.
#include "keys.cuh"
#include "scan_counts.cuh"

constexpr int kBits = 4;
constexpr int kDigits = 1 << kBits;
constexpr int kThreads = 256;
constexpr int kItems = 16;
constexpr int kTile = kThreads * kItems;

template <class T>
__global__ void count_digits(unsigned n, int shift, const T* in, unsigned tiles, unsigned* counts, unsigned* totals) {
  __shared__ unsigned of_tile[kDigits];
  const unsigned t = threadIdx.x;
  if (t < kDigits) {
    of_tile[t] = 0;
  }
  __syncthreads();
  for (int i = 0; i < kItems; ++i) {
    const unsigned place = blockIdx.x * kTile + i * kThreads + t;
    if (place < n) {
      atomicAdd(&of_tile[digit_of<kBits>(in[place], shift)], 1);
    }
  }
  __syncthreads();
  if (t < kDigits) {
    counts[t * (unsigned long long)tiles + blockIdx.x] = of_tile[t];
    atomicAdd(&totals[t], of_tile[t]);
  }
}

template <class T>
__global__ void scatter(unsigned n, int shift, const T* in, const unsigned* in_index, unsigned tiles,
                        const unsigned* counts, T* out, unsigned* out_index, long long* indices) {
  __shared__ unsigned before[kDigits][kThreads];  // keys of the tile that go before the thread's of this digit
  __shared__ unsigned shift_of[kDigits];          // from a place in the sorted tile to one in `out`
  const unsigned t = threadIdx.x;
  const unsigned first = blockIdx.x * kTile + t * kItems;
  const unsigned last = first + kItems < n ? first + kItems : n;

  for (int d = 0; d < kDigits; ++d) {
    before[d][t] = 0;
  }
  for (unsigned i = first; i < last; ++i) {
    ++before[digit_of<kBits>(in[i], shift)][t];
  }
  __syncthreads();

  // All counters in a row, digit by digit: each thread takes 16 of them.
  unsigned* row = &before[0][0] + t * kDigits;
  unsigned sum = 0;
  for (int i = 0; i < kDigits; ++i) {
    const unsigned count = row[i];
    row[i] = sum;
    sum += count;
  }
  const unsigned of_rows_before = exclusive_sum_of_block<kThreads>(sum);
  for (int i = 0; i < kDigits; ++i) {
    row[i] += of_rows_before;
  }
  __syncthreads();
  if (t < kDigits) {
    shift_of[t] = counts[t * (unsigned long long)tiles + blockIdx.x] - before[t][0];
  }
  __syncthreads();

  for (unsigned i = first; i < last; ++i) {
    const unsigned d = digit_of<kBits>(in[i], shift);
    const unsigned place = shift_of[d] + before[d][t]++;
    out[place] = in[i];
    const unsigned index = in_index != nullptr ? in_index[i] : i;
    if (out_index != nullptr) {
      out_index[place] = index;
    }
    if (indices != nullptr) {
      indices[place] = index;
    }
  }
}
