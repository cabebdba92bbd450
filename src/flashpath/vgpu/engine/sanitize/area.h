// Memory that an access goes to, and which of its records need no second look.
#pragma once

#include <cstddef>

#include "sanitize/shadow.h"

namespace flashpath::sanitize {

// One array in the whole engine: that an area is of shared memory is told by its address.
inline constexpr char kShared[] = "shared";

struct Area {
  Shadow& shadow;
  Record floor;  // records below are nobody's that need be remembered
  Record low;    // records from here …
  Record span;   // … to this much above are of this block, and known to the whole warp
  Record blank_low;
  Record blank_span;  // likewise: these say that nobody has written
  u64 origin;             // the address of the shadow's first byte
  const std::byte* host;  // of that address
  const char* space;
  Readers::Rules rules;

  // Whether the whole warp knows the record, or it is nobody's.
  u32 is_known(Record record) const {
    return u32(record < floor) | (u32(record - low <= span) & u32((record & kPending) == 0));
  }
  u32 is_blank(Record written) const { return u32(written - blank_low <= blank_span); }
  bool are_known(const Readers& readers) const {
    return readers.newest() - low <= span && (readers.oldest() >= low || low == floor) && !readers.has_pending();
  }
};

}  // namespace flashpath::sanitize
