// Sort, rung 4: radix with one read and one write of the keys for each digit.
//
//   maths    out = x in rising order; equal keys stay in the order they came in
//   layout   in, out: (n), contiguous, n < 2^30; histograms: (digits of a key, kDigits), 0 before count_all_digits;
//            states: (digits of a key, tiles, kDigits); next_tile: one per digit, 0 before sort_digit.
//            in_index, out_index: (n), or null: where each key came from; indices: (n), in the last pass, or null
//   cost     0 FLOPs: each digit of each key is counted once and ranked once, 8 n operations for keys of 32 bits; at
//            least 2 n sizeof(T) bytes; here 9 n sizeof(T) for keys of 32 bits: one read for all histograms, and one
//            read and one write for each of 4 digits
//   improves radix_tiled: a pass reads its keys once, not twice, and is one launch, not three
//   idea     sorting does not change how many keys have which digit, so one read at the start counts all digits. What
//            a tile still has to know is how many keys of each digit the tiles before it have. It asks them: each
//            publishes its own counts as soon as it has them, before it puts its keys in order, and the sum up to and
//            with itself as soon as it has that; who looks back adds counts until it meets a sum (decoupled look-back,
//            one thread per digit, four tiles at a time). Tiles take their numbers in the order they start, so those
//            before a running tile are done or running, and nobody waits for one that never starts.
//            A count or sum and what it is share one word, stored and loaded whole: nothing else has to be seen with
//            it, so relaxed accesses do.
// Source: Adinets and Merrill, Onesweep: A Faster Least Significant Digit Radix Sort for GPUs, 2022.
#include "ranking.cuh"

constexpr int kThreads = 384;
template <bool kWithIndices>
constexpr int kBlocksPerSm = kWithIndices ? 2 : 3;  // at least: 80 or 56 registers a thread
constexpr int kCountThreads = 512;
constexpr int kCountItems = 8;
constexpr int kWindow = 4;  // states asked for at once when looking back

// The upper two bits of a state say what the lower 30 are.
constexpr unsigned kCount = 1u << 30;  // keys of this digit in the tile
constexpr unsigned kSum = 2u << 30;    // where keys of this digit in the next tile begin
constexpr unsigned kValue = kCount - 1;

__device__ inline void publish(unsigned* state, unsigned word) {
  asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(state), "r"(word) : "memory");
}

__device__ inline unsigned published(const unsigned* state) {
  unsigned word;
  asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(state) : "memory");
  return word;
}

// Where this tile's keys of digit d begin in `out`: the counts of the tiles before it, back to the first sum.
__device__ inline unsigned look_back(const unsigned* states, unsigned tile, unsigned d) {
  unsigned sum = 0;
  for (int back = tile - 1;;) {  // tile 0 publishes a sum: there always is one
    unsigned words[kWindow];
#pragma unroll
    for (int w = 0; w < kWindow; ++w) {
      words[w] = back >= w ? published(&states[(back - w) * kDigits + d]) : 0;
    }
#pragma unroll
    for (int w = 0; w < kWindow; ++w) {
      if (words[w] == 0) {  // not there yet: ask again from here on
        break;
      }
      sum += words[w] & kValue;
      if (words[w] & kSum) {
        return sum;
      }
      --back;
    }
  }
}

// Also clears the states that the passes will use.
template <class T>
__global__ void __launch_bounds__(kCountThreads)
    count_all_digits(unsigned n, const T* __restrict__ in, unsigned* histograms, unsigned states_count,
                     unsigned* states) {
  constexpr int kPasses = sizeof(T) * 8 / kDigitBits;
  __shared__ unsigned of_block[kPasses][kDigits];
  const unsigned thread = blockIdx.x * kCountThreads + threadIdx.x;
  const unsigned threads = gridDim.x * kCountThreads;
  for (unsigned i = threadIdx.x; i < kPasses * kDigits; i += kCountThreads) {
    of_block[i / kDigits][i % kDigits] = 0;
  }
  for (unsigned i = thread; i < states_count; i += threads) {
    states[i] = 0;
  }
  __syncthreads();

  for (unsigned start = thread; start < n; start += kCountItems * threads) {
    T key[kCountItems];
#pragma unroll
    for (int k = 0; k < kCountItems; ++k) {
      if (start + k * threads < n) {
        key[k] = in[start + k * threads];
      }
    }
#pragma unroll
    for (int k = 0; k < kCountItems; ++k) {
      if (start + k * threads < n) {
#pragma unroll
        for (int pass = 0; pass < kPasses; ++pass) {
          atomicAdd(&of_block[pass][digit_of<kDigitBits>(key[k], pass * kDigitBits)], 1);
        }
      }
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kPasses * kDigits; i += kCountThreads) {
    atomicAdd(&histograms[i], of_block[i / kDigits][i % kDigits]);
  }
}

// A tile is kItems keys for each thread.
template <class T, bool kWithIndices, int kItems>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm<kWithIndices>)
    sort_digit(unsigned n, int shift, const T* __restrict__ in, const unsigned* __restrict__ in_index,
               const unsigned* histogram, unsigned* next_tile, unsigned* states, T* __restrict__ out,
               unsigned* __restrict__ out_index, long long* __restrict__ indices) {
  constexpr int kTile = kThreads * kItems;
  __shared__ unsigned warp_counts[kThreads / 32][kDigits];
  __shared__ unsigned shift_of[kDigits];  // from a place in the sorted tile to one in `out`
  __shared__ unsigned tile_of_block;
  __shared__ union {
    T keys[kTile];
    unsigned indices[kWithIndices ? kTile : 1];
  } sorted;
  const unsigned t = threadIdx.x, warp = t / 32;
  if (t == 0) {
    tile_of_block = atomicAdd(next_tile, 1);
  }
  __syncthreads();
  const unsigned tile = tile_of_block;
  const unsigned start = tile * kTile;
  const unsigned count = n - start < kTile ? n - start : kTile;
  const unsigned first = warp * (32 * kItems) + t % 32;

  T key[kItems];
  const T* mine = in + start + first;
  if (count == kTile) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      key[i] = mine[i * 32];
    }
  } else {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      key[i] = first + i * 32 < count ? mine[i * 32] : last_key<T>();
    }
  }
  count_in_warp(key, shift, warp_counts[warp]);
  __syncthreads();
  const unsigned of_digit = add_up_warps<kThreads>(warp_counts);
  if (t < kDigits && tile > 0) {
    publish(&states[tile * kDigits + t], kCount | of_digit);
  }
  const unsigned begin = place_digits<kThreads>(of_digit, warp_counts);
  __syncthreads();

  unsigned place[kItems];  // of each key in the sorted tile
  put_in_order(key, shift, warp_counts[warp], sorted.keys, place);
  unsigned index[kWithIndices ? kItems : 1];  // asked for now, so that it comes while this thread looks back
  if constexpr (kWithIndices) {
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const unsigned from = start + first + i * 32;
      index[i] = in_index == nullptr ? from : first + i * 32 < count ? in_index[from] : 0;
    }
  }

  // The first tile's keys of a digit begin after all keys of lower digits.
  unsigned begin_in_out = 0;
  if (tile == 0) {
    begin_in_out = exclusive_sum_of_block<kThreads>(t < kDigits ? histogram[t] : 0);
  } else if (t < kDigits) {
    begin_in_out = look_back(states, tile, t);
  }
  if (t < kDigits) {
    publish(&states[tile * kDigits + t], kSum | (begin_in_out + of_digit));
    shift_of[t] = begin_in_out - begin;
  }
  __syncthreads();

  unsigned to[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const unsigned at = i * kThreads + t;
    if (at < count) {
      const T moved = sorted.keys[at];
      to[i] = shift_of[digit_of<kDigitBits>(moved, shift)] + at;
      out[to[i]] = moved;
    }
  }
  if constexpr (kWithIndices) {
    __syncthreads();  // the keys are read: their place is free
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      sorted.indices[place[i]] = index[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const unsigned at = i * kThreads + t;
      if (at < count) {
        if (indices != nullptr) {
          indices[to[i]] = sorted.indices[at];
        } else {
          out_index[to[i]] = sorted.indices[at];
        }
      }
    }
  }
}
