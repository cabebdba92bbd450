#include "sanitize/sanitizer.h"

#include <algorithm>

namespace flashpath::sanitize {
namespace {

void know_nothing(WarpWatch& warp) {
  for (View& view : warp.view) {
    view.block = view.warp = 0;
    if (view.beyond) view.beyond = {};
  }
}

}  // namespace

Owner WarpWatch::owner() const { return {block->number, index}; }

Sanitizer::Sanitizer(machine::Launch& launch)
    : launch(launch),
      segments(launch.segments.size()),
      open_allocations(launch.open_allocations == nullptr ? own_allocations_ : *launch.open_allocations) {}

Shadow& Sanitizer::shadow_of(const machine::Segment& segment) {
  Shadow& shadow = segments[static_cast<std::size_t>(&segment - launch.segments.data())];
  if (shadow.is_empty()) shadow.cover(segment.base, segment.size, arena, segment.initialised);
  return shadow;
}

void Sanitizer::tell_accessed() const {
  if (launch.accessed == nullptr) return;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const u64 base = launch.segments[k].base;
    if (segments[k].is_empty() || base == kHeapBase || base == kGridBase) continue;
    segments[k].add_accessed(launch.program->code, *launch.accessed);
  }
}

void Sanitizer::begin_block(machine::Block& block, u64 number) {
  if (block.watch == nullptr) {
    block.watch = std::make_shared<BlockWatch>();
    block.watch->all = this;
    block.watch->shared.cover(0, block.shared.size(), arena);
    block.watch->warps.resize(block.warps.size());
    blocks_.push_back(block.watch);
  }
  BlockWatch& watch = *block.watch;
  watch.number = static_cast<u32>(number);
  watch.first = epochs.latest() + 1;
  watch.mbarriers.clear();
  watch.releases.clear();
  watch.fenced = watch.seen = {};
  watch.counted = {};
  watch.of_cluster = {};
  std::fill(std::begin(watch.arrived), std::end(watch.arrived), ClockRef());
  for (std::size_t k = 0; k < block.warps.size(); ++k) {
    WarpWatch& warp = watch.warps[k];
    block.warps[k].watch = &warp;
    warp.block = &watch;
    warp.index = static_cast<u32>(k);
    warp.started = block.warps[k].alive;
    warp.known = warp.known_warp = watch.first - 1;
    warp.ordering.reset();
    warp.exchanged_by_all = 0;
    std::fill(std::begin(warp.exchanged), std::end(warp.exchanged), Exchange());
    know_nothing(warp);
    begin_epoch(warp);
  }
  const std::size_t local = block.warps.size() * kLanes * launch.program->local_bytes;
  if (++watch.generation == 0 || watch.local_written.size() != local) {
    watch.local_written.assign(local, 0);
    watch.generation = 1;
  }
}

void Sanitizer::begin_epoch(WarpWatch& watch) {
  if (epochs.are_spent()) forget();
  watch.epoch = epochs.begin(watch.owner());
  watch.reads = false;
}

// The epochs have run out: nobody is held to have raced with what came before.
void Sanitizer::forget() {
  tell_accessed();
  for (Shadow& shadow : segments) shadow.forget(kFresh + 1);
  epochs.forget();
  releases.clear();
  running = ~0u;
  for (const std::shared_ptr<BlockWatch>& block : blocks_) {
    block->shared.forget(record_of(block->first, 0));
    block->first = kForgotten;
    block->releases.clear();
    block->fenced = block->seen = {};
    block->counted = {};
    block->of_cluster = {};
    block->mbarriers.clear();
    std::fill(std::begin(block->arrived), std::end(block->arrived), ClockRef());
    for (WarpWatch& warp : block->warps) {
      warp.known = warp.known_warp = kForgotten;
      warp.ordering.reset();
      warp.exchanged_by_all = 0;
      std::fill(std::begin(warp.exchanged), std::end(warp.exchanged), Exchange());
      know_nothing(warp);
      warp.epoch = epochs.begin(warp.owner());
    }
  }
}

}  // namespace flashpath::sanitize
