// tensormap.replace: a kernel changes a tensor map, and copies one.
#include <string>

#include "exec/memory/addresses.h"
#include "exec/operations.h"
#include "program/tensor_map.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

enum class Field { kAddress, kRank, kBox, kExtent, kStride, kStep, kType, kInterleave, kSwizzle, kFill };

// As PTX numbers the types of elements.
constexpr TensorType kTypes[] = {
    TensorType::kU8,  TensorType::kU16, TensorType::kU32,        TensorType::kS32, TensorType::kU64,
    TensorType::kS64, TensorType::kF16, TensorType::kF32,        TensorType::kF32Flushed,
    TensorType::kF64, TensorType::kBf16, TensorType::kTf32, TensorType::kTf32Flushed,
};

// False: a map cannot have that.
template <Field kField>
bool replace(TensorMap& map, u32 dimension, u64 value) {
  switch (kField) {
    case Field::kAddress: map.address = value; return true;
    case Field::kRank: map.rank = static_cast<u8>(value + 1); return value < kMostRank;
    case Field::kBox: map.box[dimension] = static_cast<u16>(value); return value >= 1 && value <= 256;
    case Field::kExtent: map.extents[dimension] = static_cast<u32>(value - 1); return true;
    case Field::kStride:
      if (dimension + 1 >= kMostRank || value % 16 != 0) return false;
      map.strides[dimension] = value;
      return true;
    case Field::kStep: map.steps[dimension] = static_cast<u8>(value); return value >= 1 && value <= 8;
    case Field::kType:
      if (value >= kTensorTypes) return false;
      map.type = kTypes[value];
      return true;
    case Field::kInterleave: return value == 0;
    case Field::kSwizzle:
      if (value > 3) return false;
      map.swizzle = static_cast<Swizzle>(value);
      return true;
    case Field::kFill: map.fills_nan = value != 0; return value <= 1;
  }
  return false;
}

template <Field kField, bool kShared>
void run_replace(Warp& warp, const Instruction& i) {
  constexpr bool kWide = kField == Field::kAddress || kField == Field::kStride;
  u64 address[kLanes];
  read_addresses(warp, i.a[0], !kShared, 0, address);
  const u32 misaligned = check_alignment(warp, i, address, warp.executing, kTensorMapBytes / 2);
  for_lanes(warp.executing & ~misaligned, [&](int lane) {
    std::byte* const place = kShared ? shared_place(warp, i, lane, address[lane], kTensorMapBytes, true)
                                     : generic_place(warp, i, lane, address[lane], kTensorMapBytes, true);
    if (sanitize::is_nowhere(warp, place)) return;
    TensorMap map;
    std::memcpy(&map, place, sizeof map);
    const u64 value = kWide ? lanes<u64>(warp, i.b[0])[lane] : lanes<u32>(warp, i.b[0])[lane];
    if (!replace<kField>(map, i.modifier, value)) {
      refuse(warp, lane, fault_at(warp, i.index, lane, "out-of-bounds",
                                  {"vgpu.tensor-map-value", {{"value", std::to_string(value)}}}));
      return;
    }
    map.mark = kTensorMapMark;
    std::memcpy(place, &map, sizeof map);
  });
}

// tensormap.cp_fenceproxy: from shared to global memory, for the copies that come after a fence.
void run_copy(Warp& warp, const Instruction& i) {
  u64 to[kLanes];
  u64 from[kLanes];
  read_addresses(warp, i.a[0], true, 0, to);
  read_addresses(warp, i.a[1], false, 0, from);
  const int lane = __builtin_ctz(warp.executing);
  std::byte* const target = generic_place(warp, i, lane, to[lane], kTensorMapBytes, true);
  const std::byte* const source = shared_place(warp, i, lane, from[lane], kTensorMapBytes, false);
  if (sanitize::is_nowhere(warp, target) || sanitize::is_nowhere(warp, source)) return;
  std::memcpy(target, source, kTensorMapBytes);
}

template <Field kField>
void field(Registry& r, const std::string& name) {
  r.add("tensormap.replace." + name, &run_replace<kField, false>);
  r.add("tensormap.replace." + name + ".shared", &run_replace<kField, true>);
}

}  // namespace

void register_tensor_maps(Registry& r) {
  field<Field::kAddress>(r, "global_address");
  field<Field::kRank>(r, "rank");
  field<Field::kBox>(r, "box_dim");
  field<Field::kExtent>(r, "global_dim");
  field<Field::kStride>(r, "global_stride");
  field<Field::kStep>(r, "element_stride");
  field<Field::kType>(r, "elemtype");
  field<Field::kInterleave>(r, "interleave_layout");
  field<Field::kSwizzle>(r, "swizzle_mode");
  field<Field::kFill>(r, "fill_mode");
  r.add("tensormap.copy", &run_copy);
}

}  // namespace flashpath::exec
