// Copies that go on while their thread does other things: cp.async, and the barriers in memory that track them.
//
// From its beginning to its thread's wait a copy writes its destination and reads its source at any time: their
// records are marked as pending, and whoever meets one finds a missing wait. With the wait the copy becomes a plain
// write and a plain read of its thread.
#include <algorithm>

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

// The copy of one lane: what its records were, and what they become.
struct Change {
  Record before;
  Record after;

  void apply(Record* records, u32 units) const {
    for (u32 k = 0; k < units; ++k) records[k] = records[k] == before ? after : records[k];
  }
};

// Pending accesses are in lines that are split. An access of up to 16 bytes is in one line, or, where fewer bytes
// are read than the copy has, perhaps not at a multiple of its size, and still in one line.
void change_written(Shadow& shadow, u64 offset, u32 size, Change change) {
  const Line& line = shadow.line(offset);
  change.apply(Shadow::cells(line, offset).written, size >> line.shift);
}

void change_read(Sanitizer& all, const std::byte* from, u32 size, Change change) {
  for (const exec::Segment& segment : all.launch.segments) {
    if (from < segment.host || from >= segment.host + segment.size) continue;
    if (!segment.writable) return;
    const u64 offset = static_cast<u64>(from - segment.host) + segment.base % kLineBytes;
    const Line& line = all.shadow_of(segment).line(offset);
    if (line.cells == nullptr) return;
    const Cells cells = Shadow::cells(line, offset);
    const u32 units = (size + (1u << line.shift) - 1) >> line.shift;
    change.apply(cells.read, units);
    change.apply(cells.second, units);
    return;
  }
}

}  // namespace

void end_copy(exec::Warp& warp, const exec::AsyncCopy& copy, u32 lanes, Epoch epoch) {
  BlockWatch& block = *warp.watch->block;
  exec::for_lanes(lanes, [&](int lane) {
    if (exec::is_nowhere(warp, copy.to[lane])) return;
    const Change change{record_of(copy.epoch, kPending | static_cast<u32>(lane)),
                        record_of(epoch, static_cast<u32>(lane))};
    change_written(block.shared, static_cast<u64>(copy.to[lane] - warp.shared), copy.size, change);
    if (copy.read[lane] != 0) change_read(*block.all, copy.from[lane], copy.read[lane], change);
  });
}

// ---- mbarrier --------------------------------------------------------------------------------------------

namespace {

Mbarrier& barrier_at(BlockWatch& block, const std::byte* object, const std::byte* shared) {
  return block.mbarriers[static_cast<u64>(object - shared)];
}

// f(the lanes that name the same object, the object)
template <class F>
void for_objects(u32 lanes, std::byte* const* objects, F&& f) {
  for (u32 rest = lanes; rest != 0;) {
    std::byte* const object = objects[__builtin_ctz(rest)];
    u32 together = 0;
    exec::for_lanes(rest, [&](int lane) { together |= u32(objects[lane] == object) << lane; });
    rest &= ~together;
    f(together, object);
  }
}

}  // namespace

void begin_barrier(exec::Warp& warp, const std::byte* object) {
  if (!exec::is_nowhere(warp, object)) barrier_at(*warp.watch->block, object, warp.shared) = {};
}

void arrive_at(exec::Warp& warp, const Instruction& i, std::byte* const* objects) {
  if ((i.order & kRelease) == 0) return;
  WarpWatch& watch = *warp.watch;
  for_objects(warp.executing, objects, [&](u32 lanes, const std::byte* object) {
    if (exec::is_nowhere(warp, object)) return;
    Mbarrier& barrier = barrier_at(*watch.block, object, warp.shared);
    barrier.arriving = joined(barrier.arriving, told(watch, lanes, (warp.alive & ~lanes) == 0));
  });
  watch.block->all->begin_epoch(watch);
}

void arrive_after_copies(exec::Warp& warp, int lane, const std::byte* object, Epoch epoch) {
  if (exec::is_nowhere(warp, object)) return;
  WarpWatch& watch = *warp.watch;
  Mbarrier& barrier = barrier_at(*watch.block, object, warp.shared);
  ClockBuilder builder;
  builder.add(barrier.arriving);
  builder.add(thread_of(watch.owner(), static_cast<u32>(lane)), epoch);
  barrier.arriving = builder.build();
}

void complete_phase(exec::Warp& warp, const std::byte* object) {
  if (exec::is_nowhere(warp, object)) return;
  Mbarrier& barrier = barrier_at(*warp.watch->block, object, warp.shared);
  barrier.completed = joined(barrier.completed, std::exchange(barrier.arriving, {}));
}

void wait_at(exec::Warp& warp, const Instruction& i, std::byte* const* objects, u32 lanes) {
  if ((i.order & kAcquire) == 0) return;
  for_objects(lanes, objects, [&](u32 together, const std::byte* object) {
    if (exec::is_nowhere(warp, object)) return;
    learn(*warp.watch, together, barrier_at(*warp.watch->block, object, warp.shared).completed);
  });
}

}  // namespace flashpath::sanitize
