// What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col ask for, and what is wrong with it.
#pragma once

#include "program/tensor_map.h"

namespace flashpath::program {

// Fields as CUDA's driver takes them; pointers may be null only where their count is 0.
struct TensorMapRequest {
  u32 type = 0;        // CUtensorMapDataType
  u32 rank = 0;
  u64 address = 0;
  const u64* extents = nullptr;   // rank
  const u64* strides = nullptr;   // rank - 1, in bytes
  const u32* box = nullptr;       // tiled: rank
  const u32* steps = nullptr;     // rank
  const s32* lower = nullptr;     // im2col: rank - 2
  const s32* upper = nullptr;
  u32 channels = 0;
  u32 pixels = 0;
  u32 interleave = 0;
  u32 swizzle = 0;
  u32 promotion = 0;
  u32 fill = 0;
};

enum class TensorMapProblem {
  kNone, kType, kRank, kAddress, kExtent, kStride, kBox, kStep, kInterleave, kSwizzle, kInnerBytes, kInnerSpan, kFill,
  kCorner,
};

// `map` is written where there is no problem. `dimension`: which one a problem is about.
TensorMapProblem encode(const TensorMapRequest& request, TensorMap& map, u32& dimension);
// The code of the message that tells it.
const char* name_of(TensorMapProblem problem);

}  // namespace flashpath::program
