// What a warp holds of a row at once: kPerLane neighbours per lane, in registers.
//
// Memory wants neighbouring lanes to touch neighbouring packs; a scan wants each lane to have neighbouring elements:
// then a lane adds up its own, one after the other, and only one state per lane goes through the five steps of
// shuffles. Shared memory turns one into the other: a row of it for each lane's elements, with a gap of 16 bytes, so
// that lanes that read their rows side by side meet in no bank. The results go back the same way. (Scanning the packs
// as they come, by shuffles alone, takes no shared memory but 24 instructions per float instead of 9, and more time.)
#pragma once
#include "../common/async_copy.cuh"
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

template <class Op, int kWidth, class T>
class WarpTile {
 public:
  using State = typename Op::State;
  using Out = typename Op::Out;
  static constexpr int kRowBytes = 128;  // of a lane's elements or of its results, whichever is larger
  static constexpr int kPerLane = kRowBytes / (sizeof(T) > sizeof(Out) ? sizeof(T) : sizeof(Out));
  static constexpr int kElements = 32 * kPerLane;

  struct alignas(16) Shared {
    char bytes[32 * (kRowBytes + 16)];
  };

  __device__ explicit WarpTile(Shared& shared) : shared_(shared.bytes), lane_(threadIdx.x % 32) {}

  // Of `left` elements of a row, as many as a tile holds.
  static __device__ int at_most(long long left) { return left < kElements ? (int)left : kElements; }

  // Read the tile at `from`, all of it before any is used. `left` elements are there, maybe fewer than a tile, maybe
  // none; the others count as zeros, which no result shows: all results that are wanted stand before them.
  __device__ void load(const T* from, const unsigned char* heads_from, int left) {
    Pack<T, kWidth> packs[kPacks];
    const T* mine = kept(from + lane_ * kWidth);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      packs[k] = {};
      if (is_whole(k, left)) {
        packs[k] = read_only_pack<kWidth>(mine + k * 32 * kWidth);
      }
    }
    if constexpr (Op::kHasHeads) {
      load_heads(heads_from, left);
    }
    __syncwarp();  // all lanes are done with what was in shared memory before
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      *striped<T>(k) = packs[k];
    }
    if (left % kWidth != 0) {  // at the end of a row: too few for a pack, so one for each lane
      __syncwarp();
      const int i = left - left % kWidth + lane_;
      if (i < left) {
        *at<T>(i) = from[i];
      }
    }
    __syncwarp();
    take();
  }

  // Ask for the tile at `from`, which is a multiple of 16; some of it may not be there, as above. Once the copies are
  // there and the lanes have met, take() reads it, as often as one likes. Only for scans without heads.
  __device__ void fetch(const T* from, int left) {
    static_assert(!Op::kHasHeads, "heads do not travel this way");
    const T* mine = kept(from + lane_ * kPerPack<T>);
#pragma unroll
    for (int k = 0; k < kPerLane / kPerPack<T>; ++k) {
      const int bytes = (left - (k * 32 + lane_) * kPerPack<T>) * (int)sizeof(T);
      copy_async_part(striped<T, kPerPack<T>>(k), mine + k * 32 * kPerPack<T>, min(max(bytes, 0), 16));
    }
  }

  // This lane's elements out of shared memory.
  __device__ void take() {
#pragma unroll
    for (int k = 0; k < kPerLane / kPerPack<T>; ++k) {
      elements_[k] = row<T>()[k];
    }
  }

  // What this lane's elements are together.
  __device__ State total() const {
    State state = element(0);
#pragma unroll
    for (int i = 1; i < kPerLane; ++i) {
      state = Op::append(state, element(i));
    }
    return state;
  }

  // Write the results, where `before` is what the row has before this lane's elements. It meets each of the lane's own
  // prefixes once: adding the elements to it one by one would round as many times, at the size of the large sum.
  // Results that stream leave the L2 first.
  template <bool kStreams = true>
  __device__ void store(Out* to, int left, bool is_exclusive, State before) {
    forget_conversions();
    __syncwarp();  // all lanes have read their elements
    State prefix = Op::identity();
#pragma unroll
    for (int k = 0; k < kPerLane / kPerPack<Out>; ++k) {
      Pack<Out> results;
#pragma unroll
      for (int j = 0; j < kPerPack<Out>; ++j) {
        const State mine = element(k * kPerPack<Out> + j), shorter = prefix;
        prefix = Op::append(shorter, mine);
        results.value[j] = Op::result(is_exclusive ? Op::before(Op::append(before, shorter), mine)
                                                   : Op::append(before, prefix));
      }
      row<Out>()[k] = results;
    }
    __syncwarp();
    Out* mine = kept(to + lane_ * kWidth);
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      if (is_whole(k, left)) {
        if constexpr (kStreams) {
          write_once(mine + k * 32 * kWidth, *striped<Out>(k));
        } else {
          write_pack(mine + k * 32 * kWidth, *striped<Out>(k));
        }
      }
    }
    const int i = left - left % kWidth + lane_;
    if (i < left) {
      to[i] = *at<Out>(i);
    }
  }

 private:
  static constexpr int kPacks = kPerLane / kWidth;
  template <class Any>
  static constexpr int kPerPack = 16 / sizeof(Any);
  using Bits = typename BitField<(kPerLane > 32 ? 64 : 32)>::Type;

  // Whether the k-th pack that this lane moves is there, all of it.
  __device__ bool is_whole(int k, int left) const { return k * 32 * kWidth + kWidth <= left - lane_ * kWidth; }

  // Where in shared memory a lane's row is, element i of the tile, and the k-th pack that this lane moves, in a tile of
  // Any.
  template <class Any>
  __device__ Pack<Any>* row() const {
    return reinterpret_cast<Pack<Any>*>(shared_ + lane_ * (kPerLane * sizeof(Any) + 16));
  }
  template <class Any>
  __device__ Any* at(unsigned i) const {
    return reinterpret_cast<Any*>(shared_ + i * sizeof(Any) + i / kPerLane * 16);
  }
  template <class Any, int kMoved = kWidth>
  __device__ Pack<Any, kMoved>* striped(int k) const {
    if constexpr (32 * kMoved % kPerLane == 0) {  // a whole number of rows further: a constant distance
      constexpr int kDistance = 32 * kMoved / kPerLane * (kPerLane * sizeof(Any) + 16);
      char* first = reinterpret_cast<char*>(at<Any>(lane_ * kMoved));
      return reinterpret_cast<Pack<Any, kMoved>*>(first + k * kDistance);
    } else {
      return reinterpret_cast<Pack<Any, kMoved>*>(at<Any>((k * 32 + lane_) * kMoved));
    }
  }

  // An address that the compiler may not take apart: it would add it up again for every pack.
  template <class Any>
  static __device__ Any* kept(Any* address) {
    asm volatile("" : "+l"(address));
    return address;
  }

  __device__ State element(int i) const {
    const T x = elements_[i / kPerPack<T>].value[i % kPerPack<T>];
    return Op::load(x, Op::kHasHeads && (heads_ >> i & 1) != 0);
  }

  // A lane's heads as bits: one register or two instead of many.
  __device__ void load_heads(const unsigned char* from, int left) {
    heads_ = 0;
#pragma unroll
    for (int k = 0; k < kPacks; ++k) {
      const int first = lane_ * kPerLane + k * kWidth;
      Pack<unsigned char, kWidth> are_heads = {};
      if (first + kWidth <= left) {
        are_heads = read_only_pack<kWidth>(from + first);
      } else if (first < left) {
#pragma unroll 1
        for (int j = 0; j < left - first; ++j) {
          heads_ |= (Bits)(from[first + j] != 0) << (k * kWidth + j);
        }
      }
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        heads_ |= (Bits)(are_heads.value[j] != 0) << (k * kWidth + j);
      }
    }
  }

  // The compiler would keep the floats that it made of half types from total() to store(), in registers that are not
  // there; after this it has to make them again.
  __device__ void forget_conversions() {
    if constexpr (sizeof(T) < 4) {
#pragma unroll
      for (auto& pack : elements_) {
        int4 bits;
        memcpy(&bits, &pack, sizeof(bits));
        asm volatile("" : "+r"(bits.x), "+r"(bits.y), "+r"(bits.z), "+r"(bits.w));
        memcpy(&pack, &bits, sizeof(bits));
      }
    }
  }

  char* shared_;
  int lane_;
  Pack<T> elements_[kPerLane / kPerPack<T>];
  Bits heads_;  // bit i for element i
};
