// When bulk copies happen.
#pragma once

#include "exec/rooms.h"
#include "machine/block.h"

namespace flashpath::exec {

// A copy begins; it is counted and watched by whoever made it.
void begin_bulk_copy(Warp& warp, BulkCopy&& copy);

// Ends all copies that complete at a barrier; false where there were none.
bool complete_bulk_copies(Cluster& cluster, std::byte* barrier);

// Does one copy that nobody has waited for: hardware may, at any time.
void do_bulk_copy_early(Cluster& cluster, u32 which);

// All threads have ended: what copies of groups write to global memory is there at the latest now.
void end_bulk_copies(Cluster& cluster);

}  // namespace flashpath::exec
