// Who knows what of whom: barriers, fences, releases and acquires.
#include <algorithm>
#include <bit>

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

using machine::for_lanes;
using machine::Use;

Epochs& epochs(const WarpWatch& watch) { return watch.block->all->epochs; }

// What a thread knows, and what it has done itself.
void tell(ClockBuilder& builder, const WarpWatch& watch, const View& view, Party self, Epoch epoch) {
  builder.add(whole_block(watch.block->number), view.block);
  if (view.warp > view.block) builder.add(whole_warp(watch.owner()), view.warp);
  builder.add(self, epoch);
  builder.add(view.beyond);
}

// The same of several lanes of a warp.
void tell(ClockBuilder& builder, const WarpWatch& watch, u32 lanes) {
  const bool all = (watch.started & ~lanes) == 0;
  if (all) builder.add(whole_warp(watch.owner()), watch.epoch);
  View before;
  bool first = true;
  for_lanes(lanes, [&](int lane) {
    const View& view = watch.view[lane];
    if (!all) builder.add(thread_of(watch.owner(), static_cast<u32>(lane)), watch.epoch);
    const bool same = !first && view.block == before.block && view.warp == before.warp && view.beyond == before.beyond;
    if (same) return;
    first = false;
    before = view;
    tell(builder, watch, view, whole_warp(watch.owner()), 0);
  });
}

// All threads of the block that live have met: each knows all that any of them has done, or knew.
void meet_all(BlockWatch& block, ClockBuilder& builder) {
  for (const WarpWatch& watch : block.warps) {
    for (const View& view : watch.view) {
      if (view.beyond) builder.add(view.beyond);
    }
  }
  builder.drop_block(block.number);
  const ClockRef beyond = builder.build();
  const Epoch latest = block.all->epochs.latest();
  for (WarpWatch& watch : block.warps) {
    for (View& view : watch.view) {
      view.block = view.warp = latest;
      if (view.beyond || beyond) view.beyond = beyond;
    }
    watch.known = watch.known_warp = latest;
  }
}

Ordering& ordering(WarpWatch& watch) {
  if (watch.ordering == nullptr) watch.ordering = std::make_unique<Ordering>();
  return *watch.ordering;
}

ClockRef released(const WarpWatch& watch, int lane, const Ordering::Released& at) {
  if (at.epoch == 0) return {};
  ClockBuilder builder;
  tell(builder, watch, at.view, thread_of(watch.owner(), static_cast<u32>(lane)), at.epoch);
  return builder.build();
}

// An atomic operation by which blocks count: add, inc, dec and the like. A lock is taken by cas or exch, and who takes
// one without a fence may find in its cache what was there before.
bool counts(const Program& program, const Instruction& i) {
  if ((i.order & (kReadModifyWrite | kComparesFirst)) != kReadModifyWrite) return false;
  return program.origins[i.index].operation.find(".exch") == std::string::npos;
}

// What a thread learns by itself, the others of its warp do not know, though it may tell them by a value.
void learn_alone(WarpWatch& watch, int lane, const ClockRef& clock) {
  learn(watch, 1u << lane, clock);
  ordering(watch).unpassed |= 1u << lane;
}

// What reading a place tells a thread: at once (acquire), or after its next fence.
void see(WarpWatch& watch, const Instruction& i, int lane, const Flag& flag) {
  const bool acquires = (i.order & kAcquire) != 0;
  if (i.order & kWideScope) {
    // An acquire takes at once what a relaxed read has only seen.
    const u64 all = flag.version << 1 | 1;
    u64& polled = ordering(watch).polled[lane];
    if (polled == all || (!acquires && polled == all - 1)) return;
    polled = acquires ? all : all - 1;
  }
  for (const Release& release : flag.releases) {
    const bool near = release.block == watch.block->number;
    if (!near && (i.order & kWideScope) == 0) continue;
    const ClockRef& clock = near ? release.near : release.far;
    if (!clock) continue;
    if (!near && counts(*watch.block->all->launch.program, i)) {
      watch.block->counted = joined(watch.block->counted, clock);
    }
    if (acquires) {
      learn_alone(watch, lane, clock);
    } else {
      ClockRef& seen = (near ? ordering(watch).seen_near : ordering(watch).seen_far)[lane];
      seen = joined(seen, clock);
    }
  }
}

// What a thread's write lets others know.
Release release_of(const WarpWatch& watch, const Instruction& i, int lane) {
  Release release;
  release.thread = thread_of(watch.owner(), static_cast<u32>(lane));
  release.block = watch.block->number;
  const bool wide = (i.order & kWideScope) != 0;
  if (i.order & kRelease) {
    release.near = released(watch, lane, {watch.epoch, watch.view[lane]});
    if (wide) release.far = release.near;
  } else if (watch.ordering != nullptr) {
    release.near = released(watch, lane, watch.ordering->near[lane]);
    if (wide) release.far = released(watch, lane, watch.ordering->far[lane]);
  }
  const Ordering::Shared& fenced = watch.block->fenced;
  if (fenced.near) release.near = joined(release.near, fenced.near);
  if (wide && fenced.far) release.far = joined(release.far, fenced.far);
  return release;
}

// Whether the clock has what the record tells of.
bool has(const ClockRef& clock, const Owner& owner, Record record) {
  if (!clock) return false;
  const Epoch epoch = epoch_of(record);
  return epoch <= clock->of(thread_of(owner, lane_of(record))) || epoch <= clock->of(whole_warp(owner)) ||
         epoch <= clock->of(whole_block(owner.block));
}

bool knows(const WarpWatch& watch, const View& view, Record record) {
  const Epoch epoch = epoch_of(record);
  const Owner& owner = epochs(watch).owner(epoch);
  if (owner.block == watch.block->number) {
    if (epoch <= view.block) return true;
    if (owner.warp == watch.index && epoch <= view.warp) return true;
  }
  return has(view.beyond, owner, record);
}

// At a barrier: what its threads had done and knew at their sequential fences, others may pass on from now; and what
// they have seen, others know after such a fence.
void share_fences(WarpWatch& watch, u32 lanes, ClockBuilder& near, ClockBuilder& far) {
  if (watch.ordering == nullptr) return;
  Ordering& fences = *watch.ordering;
  Ordering::Shared& seen = watch.block->seen;
  for_lanes(lanes, [&](int lane) {
    if (fences.seen_near[lane]) seen.near = joined(seen.near, fences.seen_near[lane]);
    if (fences.seen_far[lane]) seen.far = joined(seen.far, fences.seen_far[lane]);
  });
  for_lanes(std::exchange(fences.unshared, fences.unshared & ~lanes) & lanes, [&](int lane) {
    const Party self = thread_of(watch.owner(), static_cast<u32>(lane));
    tell(near, watch, fences.near[lane].view, self, fences.near[lane].epoch);
    if (fences.far[lane].epoch != 0) tell(far, watch, fences.far[lane].view, self, fences.far[lane].epoch);
  });
}

void add_shared(BlockWatch& block, ClockBuilder& near, ClockBuilder& far) {
  block.fenced.near = joined(block.fenced.near, near.build());
  block.fenced.far = joined(block.fenced.far, far.build());
}

// At an exchange: what a lane has learned by itself, others may be told of by its value.
void pass_on(WarpWatch& watch, u32 executing, const u32* members) {
  Ordering& fences = *watch.ordering;
  for_lanes(std::exchange(fences.unpassed, fences.unpassed & ~executing) & executing, [&](int from) {
    const View& view = watch.view[from];
    for_lanes(executing & members[from], [&](int to) {
      View& heard = fences.heard[to];
      heard.block = std::max(heard.block, view.block);
      heard.warp = std::max(heard.warp, view.warp);
      heard.beyond = joined(heard.beyond, view.beyond);
    });
  });
}

void join_release(std::vector<Release>& releases, Release release) {
  // Who takes a lock after others passes on what they have released.
  std::erase_if(releases, [&](const Release& each) {
    return each.block != release.block && each.near == each.far && covers(release.far, each.far);
  });
  for (Release& each : releases) {
    if (each.block != release.block) continue;
    each.thread = release.thread;
    each.near = joined(each.near, release.near);
    each.far = joined(each.far, release.far);
    return;
  }
  releases.push_back(std::move(release));
}

}  // namespace

ClockRef told(const WarpWatch& watch, u32 lanes) {
  ClockBuilder builder;
  tell(builder, watch, lanes);
  return builder.build();
}

void learn(WarpWatch& watch, u32 lanes, const ClockRef& clock) {
  if (!clock) return;
  const Epoch block = clock->of(whole_block(watch.block->number));
  const Epoch warp = clock->of(whole_warp(watch.owner()));
  ClockRef before;
  ClockRef after = clock;
  for_lanes(lanes, [&](int lane) {
    View& view = watch.view[lane];
    view.block = std::max(view.block, block);
    view.warp = std::max(view.warp, warp);
    if (!(view.beyond == before)) {
      before = view.beyond;
      after = joined(before, clock);
    }
    view.beyond = after;
  });
}

bool happened_before(const WarpWatch& watch, int lane, Record record) {
  const Epoch epoch = epoch_of(record);
  if (epoch < kFirstEpoch) return true;
  const Owner& owner = epochs(watch).owner(epoch);
  const bool is_own_warp = owner.block == watch.block->number && owner.warp == watch.index;
  if (is_own_warp && lane_of(record) == static_cast<u32>(lane)) return true;
  return knows(watch, watch.view[lane], record);
}

void arrive_early(machine::Warp& warp, u32 barrier, u32 lanes) {
  WarpWatch& watch = *warp.watch;
  ClockBuilder builder;
  builder.add(watch.block->arrived[barrier]);
  tell(builder, watch, lanes);
  watch.block->arrived[barrier] = builder.build();
  watch.block->all->begin_epoch(watch);
}

void meet(machine::Block& block, u32 number, const machine::Barrier& barrier) {
  BlockWatch& watch = *block.watch;
  ClockBuilder builder;
  builder.add(std::exchange(watch.arrived[number], {}));
  u32 waiting = 0;
  for (const u32 lanes : barrier.waiting) waiting += static_cast<u32>(std::popcount(lanes));
  // Threads that have ended count as arrived at a barrier for all, not at one that counts its threads.
  const u32* size = watch.all->launch.block;
  const u32 all = size[0] * size[1] * size[2];
  if (waiting == (barrier.expected == 0 ? block.living_threads : all)) {
    meet_all(watch, builder);
  } else {
    for (const machine::Warp& warp : block.warps) {
      const u32 lanes = barrier.waiting[warp.index];
      if (lanes != 0) tell(builder, *warp.watch, lanes);
    }
    const ClockRef clock = builder.build();
    for (const machine::Warp& warp : block.warps) learn(*warp.watch, barrier.waiting[warp.index], clock);
  }
  ClockBuilder near;
  ClockBuilder far;
  for (const machine::Warp& warp : block.warps) {
    share_fences(*warp.watch, barrier.arrived[warp.index], near, far);
    if (barrier.waiting[warp.index] != 0) watch.all->begin_epoch(*warp.watch);
  }
  add_shared(watch, near, far);
}

namespace {

Mbarrier& cluster_barrier(const machine::Block& block) { return block.cluster->blocks.front()->watch->of_cluster; }

}  // namespace

void arrive_at_cluster(machine::Warp& warp, const Instruction& i) {
  if ((i.order & kRelease) == 0) return;
  Mbarrier& barrier = cluster_barrier(*warp.block);
  barrier.arriving = joined(barrier.arriving, told(*warp.watch, warp.executing));
  warp.watch->block->all->begin_epoch(*warp.watch);
}

void wait_for_cluster(machine::Warp& warp, const Instruction&) {
  learn(*warp.watch, warp.executing & ~warp.arrived, cluster_barrier(*warp.block).completed);
}

void meet_cluster(machine::Cluster& cluster) {
  Mbarrier& barrier = cluster.blocks.front()->watch->of_cluster;
  barrier.completed = joined(barrier.completed, std::exchange(barrier.arriving, {}));
  for (machine::Block* const block : cluster.blocks) {
    for (machine::Warp& warp : block->warps) learn(*warp.watch, warp.for_cluster, barrier.completed);
  }
}

void meet_warp(machine::Warp& warp, const u32* members) {
  WarpWatch& watch = *warp.watch;
  if (watch.ordering != nullptr) {
    ClockBuilder near;
    ClockBuilder far;
    share_fences(watch, warp.executing, near, far);
    add_shared(*watch.block, near, far);
  }
  for (u32 rest = warp.executing; rest != 0;) {
    const u32 named = members[std::countr_zero(rest)];
    u32 together = 0;
    for_lanes(rest, [&](int lane) { together |= u32(members[lane] == named) << lane; });
    rest &= ~together;
    // Members that have ended count as arrived; others that have are not waited for.
    const bool all = (watch.started & ~(together | (named & ~warp.alive))) == 0;
    ClockBuilder builder;
    Epoch block = 0;
    Epoch known = 0;
    for_lanes(together, [&](int lane) {
      block = std::max(block, watch.view[lane].block);
      known = std::max(known, watch.view[lane].warp);
      builder.add(watch.view[lane].beyond);
      if (!all) builder.add(thread_of(watch.owner(), static_cast<u32>(lane)), watch.epoch);
    });
    const ClockRef beyond = builder.build();
    for_lanes(together, [&](int lane) { watch.view[lane] = {block, all ? watch.epoch : known, beyond}; });
    if (all) watch.known_warp = watch.epoch;
  }
  watch.block->all->begin_epoch(watch);
}

void exchange(machine::Warp& warp, const u32* members) {
  WarpWatch& watch = *warp.watch;
  if (watch.ordering != nullptr) pass_on(watch, warp.executing, members);
  if (!watch.reads) return;  // the last one has told all
  u32 common = kAllLanes;
  for_lanes(warp.executing, [&](int lane) {
    watch.exchanged[lane] = {watch.epoch, members[lane]};
    common &= members[lane];
  });
  if ((watch.started & ~(warp.executing & common)) == 0) watch.exchanged_by_all = watch.epoch;
  watch.block->all->begin_epoch(watch);
}

bool lacks_only_a_fence(const WarpWatch& watch, Record record) {
  return has(watch.block->counted, epochs(watch).owner(epoch_of(record)), record);
}

bool lacks_only_a_barrier(const WarpWatch& watch, int lane, Record record) {
  return watch.ordering != nullptr && knows(watch, watch.ordering->heard[lane], record);
}

void fence(machine::Warp& warp, const Instruction& i) {
  WarpWatch& watch = *warp.watch;
  Ordering& fences = ordering(watch);
  const bool wide = (i.order & kWideScope) != 0;
  if (i.order & kSequential) {
    learn(watch, warp.executing, watch.block->seen.near);
    if (wide) learn(watch, warp.executing, watch.block->seen.far);
  }
  for_lanes(warp.executing, [&](int lane) {
    if (fences.seen_near[lane]) learn_alone(watch, lane, std::exchange(fences.seen_near[lane], {}));
    if (wide && fences.seen_far[lane]) learn_alone(watch, lane, std::exchange(fences.seen_far[lane], {}));
    fences.near[lane] = {watch.epoch, watch.view[lane]};
    if (wide) fences.far[lane] = fences.near[lane];
  });
  if (i.order & kSequential) fences.unshared |= warp.executing;
  watch.block->all->begin_epoch(watch);
}

void order_strong(machine::Warp& warp, const Instruction& i, bool is_shared, const u64* address, u32 lanes, Use use) {
  WarpWatch& watch = *warp.watch;
  Releases& all = is_shared ? watch.block->releases : watch.block->all->releases;
  const bool writes = use != Use::kRead;
  const bool may_release =
      writes && ((i.order & kRelease) != 0 || watch.ordering != nullptr || bool(watch.block->fenced.near));
  if (all.empty() && !may_release) return;
  for_lanes(lanes, [&](int lane) {
    const auto found = all.find(address[lane]);
    if (use != Use::kWrite && found != all.end()) see(watch, i, lane, found->second);
    if (!writes) return;
    Release release = release_of(watch, i, lane);
    const bool releases = bool(release.near) || bool(release.far);
    if (use == Use::kWrite && found != all.end()) {
      // A plain write ends what others have released here, not what the thread itself has.
      std::erase_if(found->second.releases, [&](const Release& each) { return each.thread != release.thread; });
      found->second.version = ++watch.block->all->versions;
    }
    if (releases) {
      Flag& flag = all[address[lane]];
      join_release(flag.releases, std::move(release));
      flag.version = ++watch.block->all->versions;
    }
  });
  if (i.order & kRelease) watch.block->all->begin_epoch(watch);
}

}  // namespace flashpath::sanitize
