#include "exec/tensor_core/warpgroup.h"

#include <algorithm>

#include "exec/operations.h"
#include "exec/tensor_core/whole_warp.h"
#include "program/warpgroup_flags.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

MatrixQueue& queue_of(Warp& warp) { return warp.block->matrices[warp.index]; }
u32 first_of_group(const Warp& warp) { return warp.index / kWarpsOfGroup * kWarpsOfGroup; }

// Computes one operation for all warps of a group that have begun it and not ended it.
void multiply(Block& block, u32 first, u64 number) {
  MatrixPart parts[kWarpsOfGroup];
  u32 count = 0;
  for (u32 k = 0; k < kWarpsOfGroup; ++k) {
    MatrixQueue& queue = block.matrices[first + k];
    if (queue.pending.empty() || queue.done() != number) continue;
    parts[count++] = {&block.warps[first + k], &queue.pending.front()};
  }
  if (count == 0) return;
  parts[0].operation->multiply(parts, count);
  for (u32 k = 0; k < count; ++k) {
    Warp& warp = *parts[k].warp;
    warp.changed = true;
    if (warp.watch != nullptr && warp.index == first) sanitize::end_matrix_operation(warp, *parts[k].operation);
  }
  for (u32 k = 0; k < count; ++k) queue_of(*parts[k].warp).pending.pop_front();
}

// False where a warp of the group has not begun all of them.
bool finish(Warp& warp, u64 number) {
  Block& block = *warp.block;
  const u32 first = first_of_group(warp);
  u64 done = number;
  for (u32 k = first; k < first + kWarpsOfGroup; ++k) {
    if (block.matrices[k].begun < number && block.warps[k].alive != 0) return false;
    done = std::min(done, block.matrices[k].done());
  }
  for (; done < number; ++done) multiply(block, first, done);
  if (warp.watch != nullptr) sanitize::wait_for_matrices(warp, block.matrices[first].ended);
  return true;
}

void run_commit(Warp& warp, const Instruction& i) {
  require_whole_warp(warp, i);
  MatrixQueue& queue = queue_of(warp);
  queue.groups.push_back(queue.begun);
}

// Somebody is about to use accumulators of a class, or has copied them: what is on its way to them ends.
void run_touch(Warp& warp, const Instruction& i) {
  MatrixQueue& queue = queue_of(warp);
  const auto is_of_class = [&](const MatrixOperation& each) { return each.instruction->immediate == i.immediate; };
  const auto last = std::find_if(queue.pending.rbegin(), queue.pending.rend(), is_of_class);
  if (last == queue.pending.rend()) return;
  if (warp.watch != nullptr && (i.modifier & kUsesAccumulator) != 0) {
    sanitize::report_accumulator_in_flight(warp, i, *last->instruction);
  }
  for (auto count = queue.pending.rend() - last; count > 0; --count) multiply_early(warp);
}

}  // namespace

bool wait_for_matrices(Warp& warp, u32 but) {
  MatrixQueue& queue = queue_of(warp);
  while (queue.groups.size() > but) {
    queue.awaited = queue.groups.front();
    queue.groups.pop_front();
  }
  return finish_matrices(warp);
}

bool finish_matrices(Warp& warp) { return finish(warp, queue_of(warp).awaited); }

void multiply_early(Warp& warp) {
  MatrixQueue& queue = queue_of(warp);
  if (queue.pending.empty()) return;
  const MatrixPart part{&warp, &queue.pending.front()};
  part.operation->multiply(&part, 1);
  if (warp.watch != nullptr && warp.index == first_of_group(warp)) {
    sanitize::end_matrix_operation(warp, *part.operation);
  }
  queue.pending.pop_front();
}

void register_warpgroups(Registry& r) {
  r.add("wgmma.commit_group", &run_commit);
  r.add("wgmma.touch", &run_touch);
}

}  // namespace flashpath::exec
