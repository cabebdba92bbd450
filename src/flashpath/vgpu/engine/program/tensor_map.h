// A tensor map: what cuTensorMapEncode makes and bulk tensor copies read. On hardware its 128 bytes are opaque; these are our
// own (docs/decisions/0028-tensor-maps.md). The address stands first, where host code finds and replaces it.
#pragma once

#include <cstddef>

#include "program/types.h"

namespace flashpath::program {

inline constexpr u32 kMostRank = 5;
inline constexpr u32 kTensorMapMark = 0x50616d54;  // what is no tensor map has other bytes there
inline constexpr std::size_t kTensorMapBytes = 128;

// As CUtensorMapDataType numbers them.
enum class TensorType : u8 {
  kU8, kU16, kU32, kS32, kU64, kS64, kF16, kF32, kF64, kBf16, kF32Flushed, kTf32, kTf32Flushed,
};
inline constexpr u32 kTensorTypes = 13;

enum class Swizzle : u8 { kNone, k32, k64, k128 };

struct TensorMap {
  u64 address = 0;
  u32 mark = kTensorMapMark;
  u8 rank = 0;
  TensorType type = TensorType::kU8;
  u8 is_im2col = 0;
  u8 interleave = 0;  // 1: slices of 16 bytes, 2: of 32
  Swizzle swizzle = Swizzle::kNone;
  u8 promotion = 0;   // of the L2 cache: no matter here
  u8 fills_nan = 0;   // what is outside of the tensor: zeros or NaN
  u8 steps[kMostRank] = {1, 1, 1, 1, 1};  // from one element of the box to the next, in elements
  u32 extents[kMostRank] = {};            // less one: 2³² is the most
  u64 strides[kMostRank - 1] = {};        // in bytes, of all dimensions but the first
  u16 box[kMostRank] = {};                // im2col: channels and pixels are the first two
  s16 lower[3] = {};                      // im2col: the corners of the box of pixels, by dimension from the second on
  s16 upper[3] = {};
  u8 unused[26] = {};

  u64 extent(u32 dimension) const { return u64(extents[dimension]) + 1; }
  // In bytes, from one element of a dimension to the next.
  u64 stride(u32 dimension) const { return dimension == 0 ? bytes_of_element() : strides[dimension - 1]; }
  u32 bytes_of_element() const {
    constexpr u8 kBytes[kTensorTypes] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
    return kBytes[static_cast<u32>(type) % kTensorTypes];
  }
};
static_assert(sizeof(TensorMap) == kTensorMapBytes);

}  // namespace flashpath::program
