#include "program/tensor_map_encoding.h"

#include <algorithm>

namespace flashpath::program {
namespace {

constexpr u64 kMostExtent = u64(1) << 32;
constexpr u64 kMostStride = u64(1) << 40;
constexpr u32 kUnit = 16;  // bytes: of addresses, strides and rows

}  // namespace

TensorMapProblem encode(const TensorMapRequest& request, TensorMap& map, u32& dimension) {
  using enum TensorMapProblem;
  const bool is_im2col = request.box == nullptr;
  dimension = 0;
  TensorMap made;
  if (request.type >= kTensorTypes) return kType;
  if (request.rank < (is_im2col ? 3u : 1u) || request.rank > kMostRank) return kRank;
  if (request.address % kUnit != 0) return kAddress;
  if (request.interleave != 0) return kInterleave;  // slices of channels are not known to this version
  if (request.swizzle > 3) return kSwizzle;
  if (request.fill > 1) return kFill;
  made.type = static_cast<TensorType>(request.type);
  made.rank = static_cast<u8>(request.rank);
  made.address = request.address;
  made.is_im2col = is_im2col;
  made.swizzle = static_cast<Swizzle>(request.swizzle);
  made.promotion = static_cast<u8>(request.promotion);
  made.fills_nan = static_cast<u8>(request.fill);
  for (u32& d = dimension; d < request.rank; ++d) {
    if (request.extents[d] == 0 || request.extents[d] > kMostExtent) return kExtent;
    made.extents[d] = static_cast<u32>(request.extents[d] - 1);
    if (request.steps[d] < 1 || request.steps[d] > 8) return kStep;
    made.steps[d] = static_cast<u8>(request.steps[d]);
    if (!is_im2col) {
      if (request.box[d] < 1 || request.box[d] > 256) return kBox;
      made.box[d] = static_cast<u16>(request.box[d]);
    }
    if (d == 0) continue;
    const u64 stride = request.strides[d - 1];
    if (stride % kUnit != 0 || stride >= kMostStride) return kStride;
    made.strides[d - 1] = stride;
  }
  dimension = 0;
  if (is_im2col) {
    if (request.channels < 1 || request.channels > 256 || request.pixels < 1 || request.pixels > 1024) return kBox;
    made.box[0] = static_cast<u16>(request.channels);
    made.box[1] = static_cast<u16>(request.pixels);
    // Corners have 16, 8 and 5 bits for one, two and three dimensions of pixels.
    constexpr s32 kMost[] = {1 << 15, 1 << 7, 1 << 4};
    const s32 most = kMost[request.rank - 3];
    for (u32& d = dimension; d < request.rank - 2; ++d) {
      const auto fits = [&](s32 corner) { return corner >= -most && corner < most; };
      if (!fits(request.lower[d]) || !fits(request.upper[d])) return kCorner;
      made.lower[d] = static_cast<s16>(request.lower[d]);
      made.upper[d] = static_cast<s16>(request.upper[d]);
    }
    dimension = 0;
  }
  const u32 row = made.box[0] * made.bytes_of_element();
  if (row % kUnit != 0) return kInnerBytes;
  if (made.swizzle != Swizzle::kNone && row > kUnit << request.swizzle) return kInnerSpan;
  map = made;
  return kNone;
}

const char* name_of(TensorMapProblem problem) {
  switch (problem) {
    case TensorMapProblem::kType: return "vgpu.map-type";
    case TensorMapProblem::kRank: return "vgpu.map-rank";
    case TensorMapProblem::kAddress: return "vgpu.map-address";
    case TensorMapProblem::kExtent: return "vgpu.map-extent";
    case TensorMapProblem::kStride: return "vgpu.map-stride";
    case TensorMapProblem::kBox: return "vgpu.map-box";
    case TensorMapProblem::kStep: return "vgpu.map-element-stride";
    case TensorMapProblem::kInterleave: return "vgpu.map-interleave";
    case TensorMapProblem::kSwizzle: return "vgpu.map-swizzle";
    case TensorMapProblem::kInnerBytes: return "vgpu.map-inner-bytes";
    case TensorMapProblem::kInnerSpan: return "vgpu.map-inner-span";
    case TensorMapProblem::kFill: return "vgpu.map-fill";
    case TensorMapProblem::kCorner: return "vgpu.map-corner";
    default: return "";
  }
}

}  // namespace flashpath::program
