// cp.async.bulk, of ranges and of boxes of tensors, and st.async: each executing lane begins a copy.
#include <algorithm>
#include <string>

#include "exec/memory/addresses.h"
#include "exec/memory/bulk_copies.h"
#include "exec/memory/bulk_joins.h"
#include "exec/memory/tensor_boxes.h"
#include "exec/memory/traffic.h"
#include "exec/operations.h"
#include "program/bulk_flags.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

constexpr u32 kUnit = 16;            // bytes of ranges, and what they are aligned to
constexpr u32 kBoxAlignment = 128;   // of a box in shared memory
constexpr u32 kMapAlignment = 64;
constexpr u32 kOffsetMask = (1u << kRankShift) - 1;

u32 word(Warp& warp, u32 offset, int lane) { return lanes<u32>(warp, offset)[lane]; }
u64 wide(Warp& warp, u32 offset, int lane) { return lanes<u64>(warp, offset)[lane]; }

// What one lane's instruction is about.
class Beginning {
 public:
  Beginning(Warp& warp, const Instruction& i, int lane) : warp_(warp), i_(i), lane_(lane) {}

  void range() {
    const bool loads = has(kBulkToShared);
    const bool between = has(kBulkBetweenBlocks);
    const u64 to = loads || between ? word(warp_, i_.a[0], lane_) : wide(warp_, i_.a[0], lane_);
    const u64 from = loads ? wide(warp_, i_.a[1], lane_) : word(warp_, i_.a[1], lane_);
    const u32 bytes = word(warp_, i_.a[3], lane_);
    if (bytes % kUnit != 0) return misaligned("vgpu.bulk-size", bytes, kUnit);
    if (!is_aligned(to, kUnit) || !is_aligned(from, kUnit)) return;
    const std::byte* const source =
        loads ? global_place(warp_, i_, lane_, from, bytes, false) : shared_place(warp_, i_, lane_, from, bytes, false);
    if (is_lost(source)) return;
    const auto add = [&](std::byte* target, BulkCopy& copy) {
      if (bytes != 0) copy.ranges.push_back({target, source, bytes});
      return true;
    };
    if (loads || between) return to_shared(static_cast<u32>(to), bytes, add);
    std::byte* const target = global_place(warp_, i_, lane_, to, bytes, true);
    if (is_lost(target)) return;
    BulkCopy copy = made(bytes);
    copy.join = joining(type_of_flags(), false);
    add(target, copy);
    begin(std::move(copy), true);
  }

  void box() {
    TensorMap map;
    if (!read_map(map)) return;
    const u32 rank = i_.modifier & kBulkRankMask;
    Box box;
    box.is_im2col = has(kBulkIm2col);
    const u32* registers = warp_.launch->program->operand_pool.data() + i_.target;
    for (u32 k = 0; k < rank; ++k) box.at[k] = static_cast<s32>(word(warp_, registers[k], lane_));
    for (u32 k = 0; k < (i_.modifier >> kBulkOffsetsShift & 3); ++k) {
      box.offsets[k] = lanes<u16>(warp_, registers[rank + k])[lane_];
    }
    if (map.rank != rank) return wrong_map("vgpu.tensor-map-rank", map.rank, rank);
    if (bool(map.is_im2col) != box.is_im2col) return wrong_map("vgpu.tensor-map-mode", map.is_im2col, box.is_im2col);
    if (has(kBulkPrefetch)) return;
    const u32 shared = word(warp_, i_.a[0], lane_);
    if (!is_aligned(shared, kBoxAlignment)) return;
    const u32 bytes = static_cast<u32>(bytes_of_box(map, box.is_im2col));
    const u32 span = swizzled_span(map, bytes);
    if (has(kBulkToShared)) {
      return to_shared(shared, bytes, [&](std::byte* target, BulkCopy& copy) {
        copy.fill = map.fills_nan == 0 ? 0 : map.bytes_of_element() == 2 ? 0x7fff7fffu : 0x7fffffffu;
        return add_box(warp_, i_, lane_, map, box, {target, shared & kOffsetMask}, true, copy.ranges);
      }, span);
    }
    std::byte* const source = shared_place(warp_, i_, lane_, shared, span, false);
    if (is_lost(source)) return;
    BulkCopy copy = made(bytes);
    copy.join = joining(map.type, false);
    if (how() != BulkJoin::kNone && copy.join == nullptr) {
      return wrong_map("vgpu.tensor-map-type", static_cast<u32>(map.type), static_cast<u32>(how()));
    }
    if (!add_box(warp_, i_, lane_, map, box, {source, shared & kOffsetMask}, false, copy.ranges)) return;
    begin(std::move(copy), true);
  }

  // st.async and red.async
  void value(u32 width) {
    u32 count = 0;
    while (count < 4 && i_.b[count] != kNoRegister) ++count;
    const u32 bytes = count * width;
    const u32 to = word(warp_, i_.a[0], lane_);
    if (!is_aligned(to, std::min(bytes, kUnit))) return;
    to_shared(to, bytes, [&](std::byte* target, BulkCopy& copy) {
      copy.data.resize(bytes);
      for (u32 k = 0; k < count; ++k) {
        const u64 each = width == 4 ? word(warp_, i_.b[k], lane_) : wide(warp_, i_.b[k], lane_);
        std::memcpy(copy.data.data() + k * width, &each, width);
      }
      copy.is_read = true;
      copy.ranges.push_back({target, copy.data.data(), bytes});
      return true;
    });
  }

 private:
  bool has(u32 flag) const { return (i_.modifier & flag) != 0; }
  BulkJoin how() const { return static_cast<BulkJoin>(i_.modifier >> kBulkJoinShift & 15); }
  TensorType type_of_flags() const { return static_cast<TensorType>(i_.modifier >> kBulkTypeShift & 15); }
  Joining joining(TensorType type, bool is_shared) const {
    return how() == BulkJoin::kNone ? nullptr : joining_of(how(), type, is_shared);
  }
  bool is_lost(const std::byte* place) const { return sanitize::is_nowhere(warp_, place); }

  // The swizzle of the last rows may change places with bytes behind the box.
  static u32 swizzled_span(const TensorMap& map, u32 bytes) {
    const u32 unit = map.swizzle == Swizzle::kNone ? kUnit : 16u << static_cast<u32>(map.swizzle);
    return (bytes + unit - 1) / unit * unit;
  }

  void misaligned(const char* code, u64 value, u32 unit) {
    refuse(warp_, lane_, fault_at(warp_, i_.index, lane_, "misaligned", {code, {{"bytes", value}, {"unit", unit}}}));
  }
  bool is_aligned(u64 address, u32 unit) {
    if (address % unit == 0) return true;
    refuse(warp_, lane_, fault_at(warp_, i_.index, lane_, "misaligned",
                                  {"vgpu.bulk-address", {{"address", hexadecimal(address)}, {"unit", unit}}}));
    return false;
  }
  void wrong_map(const char* code, u32 has, u32 wanted) {
    refuse(warp_, lane_, fault_at(warp_, i_.index, lane_, "out-of-bounds", {code, {{"has", has}, {"wanted", wanted}}}));
  }

  bool read_map(TensorMap& map) {
    const u64 address = wide(warp_, i_.a[1], lane_);
    if (!is_aligned(address, kMapAlignment)) return false;
    const std::byte* const place = generic_place(warp_, i_, lane_, address, kTensorMapBytes, false);
    if (is_lost(place)) return false;
    std::memcpy(&map, place, sizeof map);
    if (map.mark == kTensorMapMark && map.rank >= 1 && map.rank <= kMostRank) return true;
    wrong_map("vgpu.no-tensor-map", 0, 0);
    return false;
  }

  BulkCopy made(u32 bytes) const {
    BulkCopy copy;
    copy.warp = &warp_;
    copy.lane = static_cast<u32>(lane_);
    copy.instruction = i_.index;
    copy.bytes = bytes;
    copy.group = warp_.block->bulk_groups[warp_.index].closed[lane_];
    return copy;
  }

  // A copy to one block, or to each of a multicast at the same offset, where its barrier is too.
  template <class F>
  void to_shared(u32 to, u32 bytes, F&& add, u32 span = 0) {
    const u32 barrier = word(warp_, i_.a[2], lane_);
    if (i_.b[0] == kNoRegister || is_value()) return to_block(to, barrier, bytes, std::max(span, bytes), add);
    const u32 blocks = lanes<u16>(warp_, i_.b[0])[lane_];
    for (u32 rest = blocks; rest != 0; rest &= rest - 1) {
      const u32 rank = static_cast<u32>(__builtin_ctz(rest)) + 1;
      to_block((to & kOffsetMask) | rank << kRankShift, (barrier & kOffsetMask) | rank << kRankShift, bytes,
               std::max(span, bytes), add);
    }
  }
  bool is_value() const { return i_.a[1] == kNoRegister; }

  template <class F>
  void to_block(u32 to, u32 barrier, u32 bytes, u32 span, F&& add) {
    if (!is_aligned(barrier, sizeof(u64))) return;
    std::byte* const object = shared_place(warp_, i_, lane_, barrier, sizeof(u64), true);
    std::byte* const target = shared_place(warp_, i_, lane_, to, span, true);
    if (is_lost(object) || is_lost(target)) return;
    BulkCopy copy = made(bytes);
    copy.barrier = object;
    copy.join = joining(type_of_flags(), true);
    if (!add(target, copy)) return;
    begin(std::move(copy), false);
  }

  void begin(BulkCopy&& copy, bool stores) {
    if (warp_.watch != nullptr) sanitize::watch_bulk_copy(warp_, i_, copy);
    if (warp_.counters != nullptr) count_bulk(warp_, i_, copy, stores);
    begin_bulk_copy(warp_, std::move(copy));
  }

  Warp& warp_;
  const Instruction& i_;
  int lane_;
};

void run_range(Warp& warp, const Instruction& i) {
  for_lanes(warp.executing, [&](int lane) { Beginning(warp, i, lane).range(); });
}
void run_box(Warp& warp, const Instruction& i) {
  for_lanes(warp.executing, [&](int lane) { Beginning(warp, i, lane).box(); });
}
template <u32 kWidth>
void run_value(Warp& warp, const Instruction& i) {
  for_lanes(warp.executing, [&](int lane) { Beginning(warp, i, lane).value(kWidth); });
}

}  // namespace

void register_bulk_operations(Registry& r) {
  r.add("cp.async.bulk", &run_range);
  r.add("cp.async.bulk.tensor", &run_box);
  r.add("cp.async.value.b32", &run_value<4>);
  r.add("cp.async.value.b64", &run_value<8>);
}

}  // namespace flashpath::exec
