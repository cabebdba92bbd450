// What a warp holds of a row at once, in registers: kPacks packs of kWidth neighbours per lane.
//
//   pack 0:  lane 0, lane 1, … lane 31;  pack 1:  lane 0, lane 1, … lane 31;  …
//
// So each access of the warp is 32 packs in a row, and no element has to go through shared memory to the lane that
// scans it: a pack is summed by its lane, the packs of an access are scanned by shuffles, the accesses one after the
// other. The elements stay as they were loaded; what stands before each pack is all that is kept beside them.
#pragma once
#include "../common/pack.cuh"
#include "block.cuh"

template <int kBits>
struct BitField {
  static_assert(kBits <= 64, "no register is wider");
  using Type = unsigned long long;
};
template <>
struct BitField<32> {
  using Type = unsigned;
};

template <class Op, int kPacks, int kWidth, class T>
struct WarpTile {
  using State = typename Op::State;
  using Out = typename Op::Out;
  using Heads = Pack<unsigned char, kWidth>;
  using Bits = typename BitField<(kPacks * kWidth > 32 ? 64 : 32)>::Type;
  static constexpr int kElements = 32 * kPacks * kWidth;

  Pack<T, kWidth> loaded[kPacks];
  Bits heads;            // bit k * kWidth + j for element j of pack k
  State before[kPacks];  // what the warp has before each pack

  // Of `left` elements of a row, as many as a tile holds.
  static __device__ int at_most(long long left) { return left < kElements ? (int)left : kElements; }

  // Read the tile at `from`, all of it before any is used. `left` elements are there, maybe fewer than a tile, maybe
  // none. A pack that is not whole counts as zeros, which no result shows: all others stand before it.
  __device__ void load(const T* from, const unsigned char* heads_from, int left) {
    heads = 0;
    const int first = threadIdx.x % 32 * kWidth;
    from += first;  // so that the packs of a lane are at one address and constant distances
    heads_from += first;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      loaded[k] = {};
      if (is_whole(k, left - first)) {
        loaded[k] = read_only_pack<kWidth>(from + k * kStep);
      }
    }
    if constexpr (Op::kHasHeads) {
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        if (is_whole(k, left - first)) {
          add_heads(k, read_only_pack<kWidth>(heads_from + k * kStep));
        }
      }
    }
  }

  // Find what stands before each pack; all lanes get what the warp has together.
  __device__ State scan() {
    State total = Op::identity();
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      State state = element(k, 0);
#pragma unroll
      for (int j = 1; j < kWidth; ++j) {
        state = Op::append(state, element(k, j));
      }
      const Prefix<State> in_access = scan_warp<Op>(state);
      before[k] = Op::append(total, in_access.before);
      total = Op::append(total, in_access.total);
    }
    return total;
  }

  // Write the results, where `before_warp` is what the row has before the tile. The last elements of a row may be too
  // few for a pack: these are read again and follow one by one, in the lane whose pack they would be.
  __device__ void store(const T* from, const unsigned char* heads_from, int left, bool is_exclusive,
                        State before_warp, Out* to) {
    forget_conversions();
    const int first = threadIdx.x % 32 * kWidth;
    from += first;
    heads_from += first;
    to += first;
    left -= first;
    int rest = left;
    State before_rest = Op::identity();
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      State state = Op::append(before_warp, before[k]);
      if (k * kStep < left && !is_whole(k, left)) {
        rest = k * kStep;
        before_rest = state;
      }
      Pack<Out, kWidth> results;
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        results.value[j] = next(state, element(k, j), is_exclusive);
      }
      if (is_whole(k, left)) {
        write_pack(to + k * kStep, results);
      }
    }
#pragma unroll 1
    for (; rest < left; ++rest) {
      const State last = Op::load(from[rest], Op::kHasHeads && heads_from[rest] != 0);
      to[rest] = next(before_rest, last, is_exclusive);
    }
  }

 private:
  static constexpr int kStep = 32 * kWidth;  // from a lane's pack to its next

  // Whether pack k of a lane is there, where `left` elements are from its first pack on.
  static __device__ bool is_whole(int k, int left) { return k * kStep + kWidth <= left; }

  // The result of an element, before which `state` stands; after it, `state` holds the element too.
  static __device__ Out next(State& state, State element, bool is_exclusive) {
    const State left = state;
    state = Op::append(left, element);
    return Op::result(is_exclusive ? Op::before(left, element) : state);
  }

  __device__ State element(int k, int j) const {
    return Op::load(loaded[k].value[j], Op::kHasHeads && (heads >> (k * kWidth + j) & 1) != 0);
  }

  // A bit for each head: one register or two hold what would fill a register for every fourth element.
  __device__ void add_heads(int k, Heads are_heads) {
#pragma unroll
    for (int j = 0; j < kWidth; ++j) {
      heads |= (Bits)(are_heads.value[j] != 0) << (k * kWidth + j);
    }
  }

  // The compiler would keep the floats that it made of half types from scan() to store(), in registers that are not
  // there; after this it has to make them again.
  __device__ void forget_conversions() {
    if constexpr (sizeof(T) < 4 && kWidth * sizeof(T) >= 4) {
      constexpr int kWords = kWidth * sizeof(T) / 4;
#pragma unroll
      for (int k = 0; k < kPacks; ++k) {
        unsigned words[kWords];
        memcpy(words, &loaded[k], sizeof(words));
#pragma unroll
        for (int w = 0; w < kWords; ++w) {
          asm volatile("" : "+r"(words[w]));
        }
        memcpy(&loaded[k], words, sizeof(words));
      }
    }
  }
};
