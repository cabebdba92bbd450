// Copies that go on while their thread does other things: cp.async, and the barriers in memory that track them.
//
// From its beginning to its thread's wait a copy writes its destination and reads its source at any time: their
// records are marked as pending, and whoever meets one finds a missing wait. With the wait the copy becomes a plain
// write and a plain read of its thread.
#include <algorithm>

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

// Pending writes are in lines that are split; an access of up to 16 bytes is in one of them.
void end_write(Shadow& shadow, u64 offset, u32 size, Record before, Record after) {
  const Line& line = shadow.line(offset);
  Record* const written = Shadow::cells(line, offset).written;
  std::replace(written, written + (size >> line.shift), before, after);
}

// Gives all lanes whose reads have ended with this one's. Where fewer bytes are read than the copy has, they are
// perhaps not at a multiple of their size, and still in one line.
u32 end_read(Sanitizer& all, const EndedCopy& copy, u32 lane, const std::byte* from, u32 size) {
  for (const machine::Segment& segment : all.launch.segments) {
    if (from < segment.host || from >= segment.host + segment.size) continue;
    if (!segment.writable) return 0;
    const u64 offset = static_cast<u64>(from - segment.host) + segment.base % kLineBytes;
    Shadow& shadow = all.shadow_of(segment);
    const u32 first = static_cast<u32>(offset % kLineBytes);
    const Extent bytes{static_cast<u8>(first), static_cast<u8>(first + size - 1)};
    return shadow.end_copy(shadow.line(offset), copy, lane, bytes, all.rules());
  }
  return 0;
}

}  // namespace

void end_copy(machine::Warp& warp, const machine::AsyncCopy& copy, u32 lanes, Epoch epoch) {
  BlockWatch& block = *warp.watch->block;
  u32 possible = 0;
  machine::for_lanes(lanes, [&](int lane) { possible |= u32(!is_nowhere(warp, copy.to[lane])) << lane; });
  const EndedCopy ended{copy.epoch, epoch, possible};
  u32 read = 0;
  machine::for_lanes(possible, [&](int lane) {
    const u32 own = static_cast<u32>(lane);
    end_write(block.shared, static_cast<u64>(copy.to[lane] - warp.shared), copy.size,
              record_of(copy.epoch, kPending | own), record_of(epoch, own));
    const bool is_done = (read >> lane & 1) != 0 && copy.read[lane] == copy.size;
    if (copy.read[lane] != 0 && !is_done) read |= end_read(*block.all, ended, own, copy.from[lane], copy.read[lane]);
  });
}

// ---- mbarrier --------------------------------------------------------------------------------------------

namespace {

// Of the block of the cluster whose memory it is in.
Mbarrier& barrier_at(const machine::Warp& warp, const std::byte* object) {
  const std::vector<machine::Block*>& blocks = warp.block->cluster->blocks;
  const auto holds = [&](const machine::Block* block) {
    return object >= block->shared.data() && object < block->shared.data() + block->shared.size();
  };
  const auto found = std::find_if(blocks.begin(), blocks.end(), holds);
  machine::Block& block = found == blocks.end() ? *warp.block : **found;
  return block.watch->mbarriers[static_cast<u64>(object - block.shared.data())];
}

// f(the lanes that name the same object, the object)
template <class F>
void for_objects(u32 lanes, std::byte* const* objects, F&& f) {
  for (u32 rest = lanes; rest != 0;) {
    std::byte* const object = objects[__builtin_ctz(rest)];
    u32 together = 0;
    machine::for_lanes(rest, [&](int lane) { together |= u32(objects[lane] == object) << lane; });
    rest &= ~together;
    f(together, object);
  }
}

}  // namespace

void begin_barrier(machine::Warp& warp, const std::byte* object) {
  if (!is_nowhere(warp, object)) barrier_at(warp, object) = {};
}

void arrive_at(machine::Warp& warp, const Instruction& i, std::byte* const* objects) {
  if ((i.order & kRelease) == 0) return;
  WarpWatch& watch = *warp.watch;
  for_objects(warp.executing, objects, [&](u32 lanes, const std::byte* object) {
    if (is_nowhere(warp, object)) return;
    Mbarrier& barrier = barrier_at(warp, object);
    barrier.arriving = joined(barrier.arriving, told(watch, lanes));
  });
  watch.block->all->begin_epoch(watch);
}

void arrive_after_copies(machine::Warp& warp, int lane, const std::byte* object, Epoch epoch) {
  if (is_nowhere(warp, object)) return;
  WarpWatch& watch = *warp.watch;
  Mbarrier& barrier = barrier_at(warp, object);
  ClockBuilder builder;
  builder.add(barrier.arriving);
  builder.add(thread_of(watch.owner(), static_cast<u32>(lane)), epoch);
  barrier.arriving = builder.build();
}

void complete_phase(machine::Warp& warp, const std::byte* object) {
  if (is_nowhere(warp, object)) return;
  Mbarrier& barrier = barrier_at(warp, object);
  barrier.completed = joined(barrier.completed, std::exchange(barrier.arriving, {}));
}

void wait_at(machine::Warp& warp, const Instruction& i, std::byte* const* objects, u32 lanes) {
  if ((i.order & kAcquire) == 0) return;
  for_objects(lanes, objects, [&](u32 together, const std::byte* object) {
    if (is_nowhere(warp, object)) return;
    learn(*warp.watch, together, barrier_at(warp, object).completed);
  });
}

}  // namespace flashpath::sanitize
