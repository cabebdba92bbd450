#include "exec/memory/traffic.h"

#include <algorithm>
#include <bit>

#include "exec/memory/trace.h"
#include "observe/counters.h"
#include "program/modifiers.h"

namespace flashpath::exec {
namespace {

constexpr u32 kSectorShift = 5;
constexpr u32 kBanks = 32;

observe::InstructionCount& count_of(Warp& warp, const Instruction& i) {
  return warp.counters->instructions[i.index];
}

// The lanes of a mask that have this address.
u32 equal(const u64* address, u64 value, u32 members) {
  u32 same = 0;
  for (int lane = 0; lane < kLanes; ++lane) same |= u32(address[lane] == value) << lane;
  return same & members;
}

// ---- Global memory ---------------------------------------------------------------------------------------

std::vector<u64>& bits_of(observe::Counters& counters, u32 segment, Use use) {
  observe::Touched& touched = counters.segments[segment];
  return use == Use::kRead ? touched.read : touched.written;
}

// Marks up to 64 sectors, given as bits, from sector `first` of a segment on.
void mark(std::vector<u64>& bits, u64 first, u64 sectors) {
  const u64 word = first / 64;
  const u32 shift = first % 64;
  bits[word] |= sectors << shift;
  const u64 beyond = shift == 0 ? 0 : sectors >> (64 - shift);
  if (beyond != 0) bits[word + 1] |= beyond;
}

void mark_far(Warp& warp, const Instruction& i, u64 address, Use use) {
  const Segment* segment = segment_of(warp, i, address, 1);
  const u32 index = static_cast<u32>(segment - warp.launch->segments.data());
  mark(bits_of(*warp.counters, index, use), (address >> kSectorShift) - (segment->base >> kSectorShift), 1);
}

// The sectors of an atomic's lanes, each as often as one of its addresses is hit; and the most hits of one.
struct Hits {
  u64 sectors = 0;
  u64 deepest = 0;
};

Hits hits_of(const u64* address, u32 executing) {
  u64 sector[kLanes];
  u32 depth[kLanes];
  int found = 0;
  Hits hits;
  for (u32 rest = executing; rest != 0;) {
    const u64 at = address[std::countr_zero(rest)];
    const u32 same = equal(address, at, rest);
    const u32 lanes = static_cast<u32>(std::popcount(same));
    rest &= ~same;
    int k = 0;
    while (k < found && sector[k] != at >> kSectorShift) ++k;
    if (k == found) {
      sector[found] = at >> kSectorShift;
      depth[found++] = 0;
    }
    depth[k] = std::max(depth[k], lanes);
    hits.deepest = std::max<u64>(hits.deepest, lanes);
  }
  for (int k = 0; k < found; ++k) hits.sectors += depth[k];
  return hits;
}

// Distinct sectors of lanes that may lie far apart, marked one by one.
u64 far_sectors(Warp& warp, const Instruction& i, const u64* address, u32 executing, Use use) {
  constexpr u32 kSlots = 64;
  u64 table[kSlots];  // sector + 1; 0 is free
  std::fill(std::begin(table), std::end(table), 0);
  u64 distinct = 0;
  for_lanes(executing, [&](int lane) {
    const u64 sector = address[lane] >> kSectorShift;
    u32 slot = static_cast<u32>(sector * 0x9e3779b97f4a7c15ull >> 58);
    while (table[slot] != 0 && table[slot] != sector + 1) slot = (slot + 1) % kSlots;
    if (table[slot] != 0) return;
    table[slot] = sector + 1;
    ++distinct;
    mark_far(warp, i, address[lane], use);
  });
  return distinct;
}

// An access never straddles sectors: it is aligned, and 32 bytes wide at most. Its first byte is there; of a copy that
// reads fewer bytes than it writes, the last may not be.
u64 distinct_sectors(Warp& warp, const Instruction& i, const u64* address, u32 executing, Use use) {
  u64 low = address[0];
  u64 high = address[0];
  for (int lane = 1; lane < kLanes; ++lane) {
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane]);
  }
  const u64 first = low >> kSectorShift;
  const Segment* segment = (high >> kSectorShift) - first < 64 ? segment_of(warp, i, low, high - low + 1) : nullptr;
  if (segment == nullptr) return far_sectors(warp, i, address, executing, use);
  u64 sectors = 0;
  for (int lane = 0; lane < kLanes; ++lane) sectors |= u64(1) << ((address[lane] >> kSectorShift) - first);
  const u32 index = static_cast<u32>(segment - warp.launch->segments.data());
  mark(bits_of(*warp.counters, index, use), first - (segment->base >> kSectorShift), sectors);
  return static_cast<u64>(std::popcount(sectors));
}

// Parameters of the kernel, which are read through a generic address too: no array, and nothing of it is moved.
bool is_parameter(u64 address) { return address - kParametersBase < kFunctionsBase - kParametersBase; }

void count_global(Warp& warp, const Instruction& i, const u64* address, u32 executing, Use use) {
  observe::InstructionCount& count = count_of(warp, i);
  const u64 distinct = distinct_sectors(warp, i, address, executing, use);
  if (use == Use::kAtomic) {
    const Hits hits = hits_of(address, executing);
    count.sectors += hits.sectors;
    count.serialised += hits.deepest;
  } else {
    count.sectors += distinct;
  }
}

void count_global_whole(Warp& warp, const Instruction& i, Shape shape, u64 first, u32 size, Use use) {
  observe::InstructionCount& count = count_of(warp, i);
  const u64 span = shape == Shape::kRow ? u64(kLanes) * size : size;
  const u64 begin = first >> kSectorShift;
  const u64 sectors = ((first + span - 1) >> kSectorShift) - begin + 1;  // 33 at most
  count.sectors += shape == Shape::kOne && use == Use::kAtomic ? kLanes : sectors;
  if (use == Use::kAtomic) count.serialised += shape == Shape::kOne ? kLanes : 1;
  const u32 index = warp.last_segment[i.index];  // where it was just found
  const u64 base = warp.launch->segments[index].base >> kSectorShift;
  mark(bits_of(*warp.counters, index, use), begin - base, (u64(1) << sectors) - 1);
}

// ---- Shared memory ---------------------------------------------------------------------------------------

// Passes over the banks for lanes that go together: the most distinct words that one bank is asked for.
u32 passes(const u64* address, u32 members, u32 words) {
  u32 word_of[kBanks];
  u32 used = 0;
  bool conflict = false;
  for_lanes(members, [&](int lane) {
    for (u32 k = 0; k < words; ++k) {
      const u32 word = static_cast<u32>(address[lane] >> 2) + k;
      const u32 bank = word % kBanks;
      conflict |= (used >> bank & 1) && word_of[bank] != word;
      used |= 1u << bank;
      word_of[bank] = word;
    }
  });
  if (!conflict) return 1;
  u32 seen[kBanks][kLanes];
  u8 depth[kBanks] = {};
  u32 deepest = 0;
  for_lanes(members, [&](int lane) {
    for (u32 k = 0; k < words; ++k) {
      const u32 word = static_cast<u32>(address[lane] >> 2) + k;
      const u32 bank = word % kBanks;
      u32 at = 0;
      while (at < depth[bank] && seen[bank][at] != word) ++at;
      if (at == depth[bank]) seen[bank][depth[bank]++] = word;
      deepest = std::max<u32>(deepest, depth[bank]);
    }
  });
  return deepest;
}

// Atomics: the most lanes that come to one bank.
u32 atomic_passes(const u64* address, u32 members, u32 words) {
  u8 depth[kBanks] = {};
  u32 deepest = 0;
  for_lanes(members, [&](int lane) {
    for (u32 k = 0; k < words; ++k) {
      const u32 bank = (static_cast<u32>(address[lane] >> 2) + k) % kBanks;
      deepest = std::max<u32>(deepest, ++depth[bank]);
    }
  });
  return deepest;
}

// Whether every lane's address is also that of the lane whose number differs in these bits.
bool in_pairs(const u64* address, u32 executing, int bits) {
  bool equal = true;
  for (int lane = 0; lane < kLanes; ++lane) {
    const u32 both = executing >> lane & executing >> (lane ^ bits) & 1;
    equal &= !both || address[lane] == address[lane ^ bits];
  }
  return equal;
}

u64 most_hits(const u64* address, u32 executing) {
  u64 deepest = 0;
  for (u32 rest = executing; static_cast<u64>(std::popcount(rest)) > deepest;) {
    const u32 same = equal(address, address[std::countr_zero(rest)], rest);
    deepest = std::max<u64>(deepest, static_cast<u64>(std::popcount(same)));
    rest &= ~same;
  }
  return deepest;
}

void count_shared(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, Use use) {
  observe::InstructionCount& count = count_of(warp, i);
  const u32 words = (size + 3) / 4;
  if (words == 1 && use != Use::kAtomic) {
    u64 low = address[0];
    u64 high = address[0];
    for (int lane = 1; lane < kLanes; ++lane) {
      low = std::min(low, address[lane]);
      high = std::max(high, address[lane]);
    }
    // 32 words in a row are in 32 banks.
    count.wavefronts += (high >> 2) - (low >> 2) < kBanks ? 1 : passes(address, executing, 1);
    count.ideal += 1;
    return;
  }
  u32 together = kLanes / words;
  if (use == Use::kRead && (in_pairs(address, executing, 1) || in_pairs(address, executing, 2))) together *= 2;
  for (u32 first = 0; first < kLanes; first += together) {
    const u32 members = executing & static_cast<u32>(((u64(1) << together) - 1) << first);
    if (members == 0) continue;
    count.wavefronts += use == Use::kAtomic ? atomic_passes(address, members, words) : passes(address, members, words);
    count.ideal += 1;
  }
  if (use == Use::kAtomic) count.serialised += most_hits(address, executing);
}

void count_shared_whole(Warp& warp, const Instruction& i, Shape shape, u32 size, Use use) {
  observe::InstructionCount& count = count_of(warp, i);
  u64 parts = size > 4 ? size / 4 : 1;
  if (shape == Shape::kOne && use == Use::kRead && parts > 1) parts /= 2;
  count.ideal += parts;
  if (use != Use::kAtomic) {
    count.wavefronts += parts;
  } else if (shape == Shape::kOne) {
    count.wavefronts += kLanes;
    count.serialised += kLanes;
  } else {
    count.wavefronts += size < 4 ? 4 / size : parts;  // lanes that have a word in common
    count.serialised += 1;
  }
}

// ---- Local memory ----------------------------------------------------------------------------------------

// A word of 8 neighbouring lanes is one sector.
u64 local_sectors(const u64* address, u32 executing, u32 size) {
  u64 sectors = 0;
  const u32 words = (size + 3) / 4;
  for (u32 first = 0; first < kLanes; first += 8) {
    u64 seen[8];
    int found = 0;
    for_lanes(executing & (0xffu << first), [&](int lane) {
      const u64 slot = (address[lane] >> 2) / words;
      int k = 0;
      while (k < found && seen[k] != slot) ++k;
      if (k == found) seen[found++] = slot;
    });
    sectors += static_cast<u64>(found) * words;
  }
  return sectors;
}

}  // namespace

void count_whole(Warp& warp, const Instruction& i, Where where, Shape shape, u64 first, u32 size, Use use) {
  observe::InstructionCount& count = count_of(warp, i);
  const u64 bytes = u64(kLanes) * size;
  if ((i.modifier & kUncounted) != 0 || (where == Where::kGlobal && is_parameter(first))) return;
  if (traced(warp, i, where)) keep_whole(warp, i, where, shape, first, size);
  count.requests += 1;
  count.bytes += bytes;
  if (where == Where::kGlobal) {
    count_global_whole(warp, i, shape, first, size, use);
  } else if (where == Where::kShared) {
    count.shared_requests += 1;
    count.shared_bytes += bytes;
    count_shared_whole(warp, i, shape, size, use);
  } else {
    count.local_requests += 1;
    count.local_bytes += bytes;
    count.local_sectors += u64(kLanes) / 8 * ((size + 3) / 4);
  }
}

void count_near(Warp& warp, const Instruction& i, const u32* offset, u32 low, u32 high, u32 size, Use use) {
  // 32 words in a row are in 32 banks.
  if (size <= 4 && use != Use::kAtomic && (high >> 2) - (low >> 2) < kBanks && !traced(warp, i, Where::kShared)) {
    observe::InstructionCount& count = count_of(warp, i);
    const u64 bytes = static_cast<u64>(std::popcount(warp.executing)) * size;
    count.requests += 1;
    count.bytes += bytes;
    count.shared_requests += 1;
    count.shared_bytes += bytes;
    count.wavefronts += 1;
    count.ideal += 1;
    return;
  }
  u64 address[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) address[lane] = offset[lane];
  count_scattered(warp, i, Where::kShared, address, warp.executing, size, use);
}

void count_near(Warp& warp, const Instruction& i, const Segment& segment, const u32* offset, u32 low, u32 high,
                u32 size, Use use) {
  if (is_parameter(segment.base)) return;
  const u64 first = (segment.base + low) >> kSectorShift;
  const u64 last = (segment.base + high) >> kSectorShift;
  if (use == Use::kAtomic || (i.modifier & kUncounted) != 0 || last - first >= 64 || traced(warp, i, Where::kGlobal)) {
    u64 address[kLanes];
    for (int lane = 0; lane < kLanes; ++lane) address[lane] = segment.base + offset[lane];
    return count_scattered(warp, i, Where::kGlobal, address, warp.executing, size, use);
  }
  observe::InstructionCount& count = count_of(warp, i);
  const u32 phase = static_cast<u32>(segment.base - (first << kSectorShift));  // offsets from the first sector
  u64 sectors = 0;
  for (int lane = 0; lane < kLanes; ++lane) sectors |= u64(1) << ((offset[lane] + phase) >> kSectorShift);
  count.requests += 1;
  count.bytes += static_cast<u64>(std::popcount(warp.executing)) * size;
  count.sectors += static_cast<u64>(std::popcount(sectors));
  const u32 index = static_cast<u32>(&segment - warp.launch->segments.data());
  mark(bits_of(*warp.counters, index, use), first - (segment.base >> kSectorShift), sectors);
}

void count_scattered(Warp& warp, const Instruction& i, Where where, const u64* address, u32 executing, u32 size,
                     Use use) {
  observe::InstructionCount& count = count_of(warp, i);
  const u64 bytes = static_cast<u64>(std::popcount(executing)) * size;
  const u64 one = address[std::countr_zero(executing)];
  if ((i.modifier & kUncounted) != 0 || (where == Where::kGlobal && is_parameter(one))) return;
  if (traced(warp, i, where)) keep_scattered(warp, i, where, address, executing, size);
  count.requests += 1;
  count.bytes += bytes;
  if (where == Where::kGlobal) {
    count_global(warp, i, address, executing, use);
  } else if (where == Where::kShared) {
    count.shared_requests += 1;
    count.shared_bytes += bytes;
    count_shared(warp, i, address, executing, size, use);
  } else {
    count.local_requests += 1;
    count.local_bytes += bytes;
    count.local_sectors += local_sectors(address, executing, size);
  }
}

void count_bulk(Warp& warp, const Instruction& i, const BulkCopy& copy, bool stores) {
  observe::InstructionCount& count = count_of(warp, i);
  const std::vector<Segment>& segments = warp.launch->segments;
  count.requests += 1;
  std::size_t index = 0;
  u64 next = 0;  // the sector behind the last one of the range before
  for (const BulkRange& range : copy.ranges) {
    const std::byte* const place = stores ? range.to : range.from;
    const auto is_in = [&](const Segment& each) { return place >= each.host && place < each.host + each.size; };
    if (place == nullptr) continue;
    if (!is_in(segments[index])) {
      const auto found = std::find_if(segments.begin(), segments.end(), is_in);
      if (found == segments.end()) continue;
      index = static_cast<std::size_t>(found - segments.begin());
      next = 0;
    }
    const u64 address = segments[index].base + static_cast<u64>(place - segments[index].host);
    const u64 base = segments[index].base >> kSectorShift;
    count.bytes += range.bytes;
    for (u64 sector = address >> kSectorShift; sector <= (address + range.bytes - 1) >> kSectorShift; ++sector) {
      if (sector + 1 == next) continue;
      next = sector + 1;
      count.sectors += 1;
      mark(bits_of(*warp.counters, static_cast<u32>(index), stores ? Use::kWrite : Use::kRead), sector - base, 1);
    }
  }
}

}  // namespace flashpath::exec
