// wgmma reads shared memory until somebody waits for it. The four warps of a group read as one: their reads are those of a party
// of its own, which stands behind the warps of the block, and who waits learns what it has done.
#include <algorithm>

#include "sanitize/watcher.h"

namespace flashpath::sanitize {
namespace {

constexpr u32 kChunk = 16;

Owner group_of(const machine::Warp& warp) {
  return {warp.watch->block->number, kMostWarps + warp.index / machine::kWarpsOfGroup};
}

}  // namespace

void begin_matrix_operation(machine::Warp& warp, const Instruction& i, machine::MatrixOperation& operation) {
  WarpWatch& watch = *warp.watch;
  const u64 limit = warp.block->shared.size();
  std::erase_if(operation.read, [&](u32 address) { return address + kChunk > limit; });  // told when it is computed
  static constexpr u32 kNothing[kLanes] = {};
  const Epoch own = watch.epoch;
  operation.epoch = watch.block->all->epochs.begin(group_of(warp));
  watch.epoch = operation.epoch;  // whose reads these are; what they may read, the warp knows
  for (const u32 address : operation.read) {
    Watcher(warp, i, kChunk, machine::Use::kRead, nullptr, true).lanes(1, address, kNothing);
  }
  watch.epoch = own;
}

void end_matrix_operation(machine::Warp& warp, const machine::MatrixOperation& operation) {
  if (operation.epoch == 0) return;
  BlockWatch& block = *warp.watch->block;
  Sanitizer& all = *block.all;
  const Epoch ended = all.epochs.begin(group_of(warp));
  const Readers::Rules rules{all.epochs, record_of(block.first, 0), nullptr};
  for (const u32 address : operation.read) {
    const u32 first = address % kLineBytes;
    const Extent extent{static_cast<u8>(first), static_cast<u8>(first + kChunk - 1)};
    block.shared.end_copy(block.shared.line(address), {operation.epoch, ended, 1}, 0, extent, rules);
  }
  const u32 group = warp.index / machine::kWarpsOfGroup * machine::kWarpsOfGroup;
  warp.block->matrices[group].ended = ended;
}

void wait_for_matrices(machine::Warp& warp, Epoch ended) {
  if (ended == 0) return;
  ClockBuilder builder;
  builder.add(thread_of(group_of(warp), 0), ended);
  learn(*warp.watch, warp.executing, builder.build());
}

}  // namespace flashpath::sanitize
