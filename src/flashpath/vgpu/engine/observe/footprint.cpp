#include "observe/footprint.h"

#include <bit>

namespace flashpath::observe {
namespace {

u64 ones(const std::vector<u64>& bits) {
  u64 count = 0;
  for (const u64 each : bits) count += static_cast<u64>(std::popcount(each));
  return count;
}

u64 ones_of_either(const std::vector<u64>& a, const std::vector<u64>& b) {
  u64 count = 0;
  for (std::size_t k = 0; k < a.size(); ++k) count += static_cast<u64>(std::popcount(a[k] | b[k]));
  return count;
}

// The bytes of a segment that lie in its touched sectors; its ends need not be those of sectors.
u64 touched_bytes(const machine::Segment& segment, const Touched& touched) {
  const auto is_touched = [&](u64 sector) {
    return ((touched.read[sector / 64] | touched.written[sector / 64]) >> (sector % 64) & 1) != 0;
  };
  const u64 before = segment.base % 32;
  const u64 last = (before + segment.size - 1) / 32;
  const u64 after = (last + 1) * 32 - (before + segment.size);
  return 32 * ones_of_either(touched.read, touched.written) - (is_touched(0) ? before : 0) -
         (is_touched(last) ? after : 0);
}

}  // namespace

Footprint footprint_of(const machine::Launch& launch, const Counters& counters) {
  Footprint found;
  for (std::size_t k = 0; k < counters.segments.size(); ++k) {
    const machine::Segment& segment = launch.segments[k];
    const Touched& touched = counters.segments[k];
    if (segment.base >= kConstantsBase && segment.base < kFunctionsBase) continue;
    found.read_sectors += ones(touched.read);
    found.written_sectors += ones(touched.written);
    if (segment.base == kHeapBase) continue;
    found.allocated += segment.size;
    found.touched += touched_bytes(segment, touched);
  }
  return found;
}

}  // namespace flashpath::observe
