// Proxies: what threads write, the units beside them (TMA, wgmma) see only behind a fence.proxy.async.
//
// Such a fence stands somewhere on the way from the write to the copy or the product that reads it: in the thread that wrote,
// after the write; in the one that begins the reading; or in any other that knows of the write, and that the reader knows of.
#include <algorithm>

#include "sanitize/sanitizer.h"

namespace flashpath::sanitize {
namespace {

constexpr u32 kWord = 4;

bool is_asynchronous(const Program& program, u32 instruction) {
  const std::string& operation = program.origins[instruction].operation;
  return operation.starts_with("cp.async.bulk") || operation.starts_with("cp.async.value");
}

struct Write {
  Record record;
  u32 by;
};

Write last_write(Shadow& shadow, u64 address) {
  const Line& line = shadow.line(address);
  if (line.cells != nullptr) {
    const Cells cells = Shadow::cells(line, address);
    return {*cells.written, *cells.written_by};
  }
  if (line.written < record_of(kFirstEpoch, 0)) return {line.written, line.written_by};
  return {line.written + (static_cast<u32>(address % kLineBytes / kWord) >> line.written_step), line.written_by};
}

// Whether a thread's last proxy fence comes after the write.
bool covers(const WarpWatch& watch, int lane, Record written) {
  const Proxies& proxies = *watch.proxies;
  if (proxies.fenced[lane] == 0) return false;
  const Owner& owner = watch.block->all->epochs.owner(epoch_of(written));
  const bool is_own = owner.block == watch.block->number && owner.warp == watch.index &&
                      lane_of(written) == static_cast<u32>(lane);
  if (is_own) return epoch_of(written) <= proxies.fenced[lane];
  return knew(watch, proxies.view[lane], written);
}

bool is_fenced(const machine::Warp& warp, u32 lanes, Record written) {
  const WarpWatch& reader = *warp.watch;
  const Owner& owner = reader.block->all->epochs.owner(epoch_of(written));
  if (owner.warp >= kMostWarps) return true;
  bool found = false;
  if (reader.proxies != nullptr) {
    machine::for_lanes(lanes, [&](int lane) { found = found || covers(reader, lane, written); });
  }
  if (found) return true;
  const int first = __builtin_ctz(lanes);
  for (const machine::Block* block : warp.block->cluster->blocks) {
    for (const WarpWatch& each : block->watch->warps) {
      if (each.proxies == nullptr) continue;
      for (u32 lane = 0; lane < kLanes; ++lane) {
        const Epoch fenced = each.proxies->fenced[lane];
        if (fenced == 0 || !covers(each, static_cast<int>(lane), written)) continue;
        const bool is_writer = &each == &block->watch->warps[owner.warp % block->watch->warps.size()] &&
                               block->watch->number == owner.block && lane == lane_of(written);
        if (is_writer || happened_before(reader, first, record_of(fenced, lane))) return true;
      }
    }
  }
  return false;
}

}  // namespace

void fence_proxy(machine::Warp& warp) {
  WarpWatch& watch = *warp.watch;
  if (watch.proxies == nullptr) watch.proxies = std::make_unique<Proxies>();
  machine::for_lanes(warp.executing, [&](int lane) {
    watch.proxies->fenced[lane] = watch.epoch;
    watch.proxies->view[lane] = watch.view[lane];
  });
  watch.block->all->begin_epoch(watch);
}

void check_proxy(machine::Warp& warp, const Instruction& i, u32 lanes, const machine::Block& of, u64 address, u32 bytes) {
  BlockWatch& block = *of.watch;
  Record seen = 0;
  for (u64 at = address; at < address + bytes; at += kWord) {
    const auto [record, by] = last_write(block.shared, at);
    if (record == seen || epoch_of(record) < block.first || is_pending(record)) continue;
    seen = record;
    if (is_asynchronous(*warp.launch->program, by) || is_fenced(warp, lanes, record)) continue;
    report_missing_fence(warp, i, __builtin_ctz(lanes), {by, record, true}, {"shared", at, kWord});
    return;
  }
}

}  // namespace flashpath::sanitize
