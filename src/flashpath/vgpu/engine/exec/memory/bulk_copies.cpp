// Copies in flight: cp.async.bulk and its kin, once it is known where they read and write.
#include "exec/memory/bulk_copies.h"

#include <algorithm>

#include "exec/memory/mbarrier.h"
#include "exec/operations.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

void fill(std::byte* to, u32 bytes, u32 value) {
  if (value == 0) {
    std::memset(to, 0, bytes);
    return;
  }
  const u8 parts[4] = {static_cast<u8>(value), static_cast<u8>(value >> 8), static_cast<u8>(value >> 16),
                       static_cast<u8>(value >> 24)};
  for (u32 k = 0; k < bytes; ++k) to[k] = std::byte(parts[k % 4]);
}

// From now on the source may be written.
void read(BulkCopy& copy) {
  if (copy.is_read) return;
  if (copy.warp->watch != nullptr) {
    std::vector<const std::byte*> sources;
    for (const BulkRange& range : copy.ranges) sources.push_back(range.from);
    sanitize::end_bulk_read(copy, sources);
  }
  u32 bytes = 0;
  for (const BulkRange& range : copy.ranges) bytes += range.bytes;
  copy.data.resize(bytes);
  std::byte* to = copy.data.data();
  for (BulkRange& range : copy.ranges) {
    if (range.from != nullptr) std::memcpy(to, range.from, range.bytes);
    range.from = to;
    to += range.bytes;
  }
  copy.is_read = true;
}

void write(const BulkCopy& copy) {
  for (const BulkRange& range : copy.ranges) {
    if (range.from == nullptr) {
      fill(range.to, range.bytes, copy.fill);
    } else if (copy.join != nullptr) {
      copy.join(range.to, range.from, range.bytes);
    } else {
      std::memmove(range.to, range.from, range.bytes);
    }
  }
}

void complete(BulkCopy& copy) {
  if (!copy.was_early) write(copy);
  if (copy.warp->watch != nullptr) sanitize::end_bulk_copy(copy);
  if (copy.barrier == nullptr) return;
  if (complete_bytes(copy.barrier, copy.bytes) && copy.warp->watch != nullptr) {
    sanitize::complete_phase(*copy.warp, copy.barrier);
  }
}

void run_commit(Warp& warp, const Instruction&) {
  BulkGroups& groups = warp.block->bulk_groups[warp.index];
  for_lanes(warp.executing, [&](int lane) { ++groups.closed[lane]; });
}

// All groups of each lane but the last few are to be done, or to have read what they copy.
template <bool kOnlyRead>
void run_wait(Warp& warp, const Instruction& i) {
  std::vector<BulkCopy>& all = warp.block->cluster->bulk;
  const BulkGroups& groups = warp.block->bulk_groups[warp.index];
  const auto is_due = [&](const BulkCopy& copy) {
    if (copy.barrier != nullptr || copy.warp != &warp || (warp.executing >> copy.lane & 1) == 0) return false;
    return static_cast<s64>(groups.closed[copy.lane]) - static_cast<s64>(copy.group) > i.immediate;
  };
  for (BulkCopy& copy : all) {
    if (!is_due(copy)) continue;
    if (!kOnlyRead) {
      complete(copy);
    } else {
      read(copy);
    }
  }
  if (!kOnlyRead) std::erase_if(all, is_due);
}

}  // namespace

void begin_bulk_copy(Warp& warp, BulkCopy&& copy) { warp.block->cluster->bulk.push_back(std::move(copy)); }

bool complete_bulk_copies(Cluster& cluster, std::byte* barrier) {
  std::vector<BulkCopy>& all = cluster.bulk;
  if (all.empty()) return false;
  const auto is_bound = [&](const BulkCopy& copy) { return copy.barrier == barrier; };
  const auto begin = std::find_if(all.begin(), all.end(), is_bound);
  if (begin == all.end()) return false;
  for (auto copy = begin; copy != all.end(); ++copy) {
    if (is_bound(*copy)) complete(*copy);
  }
  all.erase(std::remove_if(begin, all.end(), is_bound), all.end());
  return true;
}

void do_bulk_copy_early(Cluster& cluster, u32 which) {
  BulkCopy& copy = cluster.bulk[which];
  if (copy.barrier == nullptr) {
    if (!copy.was_early) write(copy);
    copy.was_early = true;  // and still nobody has waited for it
    return;
  }
  complete(copy);
  cluster.bulk.erase(cluster.bulk.begin() + which);
}

void end_bulk_copies(Cluster& cluster) {
  for (BulkCopy& copy : cluster.bulk) {
    if (copy.warp->watch != nullptr) sanitize::end_without_wait(copy);
    if (copy.barrier == nullptr && !copy.was_early) write(copy);
  }
  cluster.bulk.clear();
}

void register_bulk_groups(Registry& r) {
  r.add("cp.async.bulk.commit_group", &run_commit);
  r.add("cp.async.bulk.wait_group", &run_wait<false>);
  r.add("cp.async.bulk.wait_group.read", &run_wait<true>);
}

}  // namespace flashpath::exec
