#include "exec/memory/tensor_boxes.h"

#include <algorithm>

#include "exec/memory/addresses.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

constexpr u32 kChunk = 16;  // bytes that a swizzle keeps together

u32 elements(const TensorMap& map, u32 dimension) {
  const u32 step = dimension == 0 ? 1 : std::max<u32>(1, map.steps[dimension]);
  return (map.box[dimension] + step - 1) / step;
}

// Rows of a box, one after the other in shared memory.
class Rows {
 public:
  Rows(Warp& warp, const Instruction& i, int lane, const TensorMap& map, const BoxPlace& place, bool loads,
       std::vector<BulkRange>& ranges)
      : warp_(warp), i_(i), lane_(lane), map_(map), place_(place), loads_(loads), ranges_(ranges),
        swizzle_(mask_of(map.swizzle)) {}

  // The elements of dimension 0 from `first` on, at coordinates of the others; `is_inside`: of those.
  bool add(s64 first, const s64* at, bool is_inside) {
    const s64 width = map_.bytes_of_element();
    const s64 count = map_.box[0];
    const s64 extent = static_cast<s64>(map_.extent(0));
    const s64 begin = is_inside ? std::clamp<s64>(-first, 0, count) : count;
    const s64 end = is_inside ? std::clamp<s64>(extent - first, begin, count) : count;
    const u32 row = at_;
    at_ += static_cast<u32>(count * width);
    put(row, nullptr, static_cast<u32>(begin * width));
    if (begin < end) {
      u64 address = map_.address + static_cast<u64>((first + begin) * width);
      for (u32 d = 1; d < map_.rank; ++d) address += static_cast<u64>(at[d]) * map_.stride(d);
      const u32 bytes = static_cast<u32>((end - begin) * width);
      std::byte* const memory = global(address, bytes);
      if (memory == nullptr) return false;
      put(row + static_cast<u32>(begin * width), memory, bytes);
    }
    put(row + static_cast<u32>(end * width), nullptr, static_cast<u32>((count - end) * width));
    return true;
  }

 private:
  static u32 mask_of(Swizzle swizzle) {
    switch (swizzle) {
      case Swizzle::k32: return 0x10;
      case Swizzle::k64: return 0x30;
      case Swizzle::k128: return 0x70;
      default: return 0;
    }
  }

  std::byte* global(u64 address, u32 bytes) {
    if (segment_ == nullptr || !holds(*segment_, address, bytes)) {
      segment_ = segment_below(warp_.launch->segments, address);
    }
    if (segment_ != nullptr && holds(*segment_, address, bytes) && (loads_ || segment_->writable)) {
      return segment_->host + (address - segment_->base);
    }
    std::byte* const found = global_place(warp_, i_, lane_, address, bytes, !loads_);
    return sanitize::is_nowhere(warp_, found) ? nullptr : found;
  }

  // So many bytes at an offset of the box; without memory of the tensor, what is filled.
  void put(u32 offset, std::byte* memory, u32 bytes) {
    if (memory == nullptr && !loads_) return;
    while (bytes != 0) {
      const u32 logical = place_.address + offset;
      const u32 part = swizzle_ == 0 ? bytes : std::min(bytes, kChunk - logical % kChunk);
      std::byte* const shared = place_.shared + ((logical ^ (logical >> 3 & swizzle_)) - place_.address);
      ranges_.push_back(loads_ ? BulkRange{shared, memory, part} : BulkRange{memory, shared, part});
      offset += part;
      bytes -= part;
      if (memory != nullptr) memory += part;
    }
  }

  Warp& warp_;
  const Instruction& i_;
  int lane_;
  const TensorMap& map_;
  const BoxPlace& place_;
  bool loads_;
  std::vector<BulkRange>& ranges_;
  u32 swizzle_;
  u32 at_ = 0;
  const Segment* segment_ = nullptr;
};

bool is_in(const TensorMap& map, const s64* at) {
  for (u32 d = 1; d < map.rank; ++d) {
    if (at[d] < 0 || at[d] >= static_cast<s64>(map.extent(d))) return false;
  }
  return true;
}

bool add_tile(const TensorMap& map, const Box& box, Rows& rows) {
  u32 count[kMostRank] = {1, 1, 1, 1, 1};
  for (u32 d = 1; d < map.rank; ++d) count[d] = elements(map, d);
  s64 at[kMostRank] = {};
  u32 k[kMostRank] = {};
  for (;;) {
    for (u32 d = 1; d < map.rank; ++d) at[d] = s64(box.at[d]) + s64(k[d]) * std::max<u32>(1, map.steps[d]);
    if (!rows.add(box.at[0], at, is_in(map, at))) return false;
    u32 d = 1;
    while (d < map.rank && ++k[d] == count[d]) k[d++] = 0;
    if (d >= map.rank) return true;
  }
}

// Pixels of a column, each with some channels: along the first dimension of pixels up to the edge of their box, then on
// along the next, and at last into the next image.
bool add_column(const TensorMap& map, const Box& box, Rows& rows) {
  const u32 pixels = map.rank - 2;
  s64 at[kMostRank];
  for (u32 d = 0; d < map.rank; ++d) at[d] = box.at[d];
  for (u32 pixel = 0; pixel < map.box[1]; ++pixel) {
    s64 read[kMostRank];
    for (u32 d = 0; d < map.rank; ++d) read[d] = at[d] + (d >= 1 && d <= pixels ? box.offsets[d - 1] : 0);
    if (!rows.add(box.at[0], read, is_in(map, read))) return false;
    u32 d = 1;
    for (; d <= pixels; ++d) {
      at[d] += std::max<u32>(1, map.steps[d]);
      if (at[d] <= static_cast<s64>(map.extent(d)) - 1 + map.upper[d - 1]) break;
      at[d] = map.lower[d - 1];
    }
    if (d > pixels) ++at[map.rank - 1];
  }
  return true;
}

}  // namespace

u64 bytes_of_box(const TensorMap& map, bool is_im2col) {
  u64 bytes = u64(map.box[0]) * map.bytes_of_element();
  if (is_im2col) return bytes * map.box[1];
  for (u32 d = 1; d < map.rank; ++d) bytes *= elements(map, d);
  return bytes;
}

bool add_box(Warp& warp, const Instruction& i, int lane, const TensorMap& map, const Box& box, const BoxPlace& place,
             bool loads, std::vector<BulkRange>& ranges) {
  Rows rows(warp, i, lane, map, place, loads, ranges);
  return box.is_im2col ? add_column(map, box, rows) : add_tile(map, box, rows);
}

}  // namespace flashpath::exec
