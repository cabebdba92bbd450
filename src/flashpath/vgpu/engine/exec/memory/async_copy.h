// When copies that cp.async has begun happen.
#pragma once

#include "exec/rooms.h"
#include "machine/block.h"

namespace flashpath::exec {

// Does one of the copies, counted from the first, that nobody has waited for yet: hardware may, at any time.
void do_early(AsyncCopies& copies, u32 which);

// Ends all copies that threads of the block have bound to a barrier, and arrives there for them; false where there
// were none.
bool arrive_for_copies(Block& block, std::byte* barrier);

}  // namespace flashpath::exec
