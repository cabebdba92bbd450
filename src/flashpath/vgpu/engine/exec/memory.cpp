#include "exec/memory.h"

#include <algorithm>
#include <bit>

namespace flashpath::exec {
namespace {

// The segment an address lies in, or the one below it.
const Segment* segment_below(const std::vector<Segment>& segments, u64 address) {
  const auto above = std::upper_bound(segments.begin(), segments.end(), address,
                                      [](u64 a, const Segment& segment) { return a < segment.base; });
  return above == segments.begin() ? nullptr : &*(above - 1);
}

bool holds(const Segment& segment, u64 address, u64 size) {
  return address >= segment.base && address - segment.base <= segment.size &&
         size <= segment.size - (address - segment.base);
}

}  // namespace

std::string hexadecimal(u64 value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

Fault fault_at(const Warp& warp, u32 instruction, int lane, const char* kind, const std::string& message) {
  Fault fault(kind, message, instruction);
  const u32* size = warp.launch->block;
  const u32 thread = warp.index * kLanes + static_cast<u32>(lane);
  fault.thread[0] = thread % size[0];
  fault.thread[1] = thread / size[0] % size[1];
  fault.thread[2] = thread / (size[0] * size[1]);
  std::copy(std::begin(warp.block->id), std::end(warp.block->id), std::begin(fault.block));
  return fault;
}

void out_of_bounds(const Warp& warp, const Instruction& i, int lane, u64 address, u32 size, const char* space,
                   bool write) {
  const char* kind = "out-of-bounds";
  std::string message = std::string(write ? "a write of " : "a read of ") + std::to_string(size) +
                        " bytes at " + hexadecimal(address) + " of " + space + " memory";
  if (std::strcmp(space, "global") == 0) {
    const Segment* below = segment_below(warp.launch->segments, address);
    if (address == 0) {
      message += ": it is a null pointer";
    } else if (below != nullptr && write && !below->writable && holds(*below, address, size)) {
      kind = "const-write";
      message += ", which is read-only";
    } else if (below != nullptr && address - below->base < below->size + (1u << 20)) {
      message += ": " + std::to_string(address - below->base) + " bytes into an array of " +
                 std::to_string(below->size);
    } else {
      message += ": no array is near";
    }
  } else {
    message += ": there are " + std::to_string(std::strcmp(space, "shared") == 0 ? warp.block->shared.size()
                                                                                 : warp.launch->program->local_bytes) +
               " bytes";
  }
  throw fault_at(warp, i.index, lane, kind, message);
}

void misaligned(const Warp& warp, const Instruction& i, int lane, u64 address, u32 size) {
  throw fault_at(warp, i.index, lane, "misaligned",
                 "an access of " + std::to_string(size) + " bytes at " + hexadecimal(address) +
                     ", which is no multiple of " + std::to_string(size));
}

void check_alignment(Warp& warp, const Instruction& i, const u64* address, u32 size) {
  u64 low = 0;
  for_lanes(warp.executing, [&](int lane) { low |= address[lane]; });
  if ((low & (size - 1)) == 0) return;
  for_lanes(warp.executing, [&](int lane) {
    if (address[lane] & (size - 1)) misaligned(warp, i, lane, address[lane], size);
  });
}

const Segment* common_segment(Warp& warp, const Instruction& i, const u64* address, u32 size) {
  const std::vector<Segment>& segments = warp.launch->segments;
  if (segments.empty()) return nullptr;
  u64 low = ~u64(0);
  u64 high = 0;
  for_lanes(warp.executing, [&](int lane) {
    low = std::min(low, address[lane]);
    high = std::max(high, address[lane]);
  });
  u32& last = warp.last_segment[i.index];
  const Segment* segment = &segments[last];
  if (!holds(*segment, low, size)) {
    segment = segment_below(segments, low);
    if (segment == nullptr || !holds(*segment, low, size)) return nullptr;
    last = static_cast<u32>(segment - segments.data());
  }
  return holds(*segment, high, size) ? segment : nullptr;
}

std::byte* global_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  const Segment* segment = segment_below(warp.launch->segments, address);
  if (segment == nullptr || !holds(*segment, address, size) || (write && !segment->writable)) {
    out_of_bounds(warp, i, lane, address, size, "global", write);
  }
  return segment->host + (address - segment->base);
}

std::byte* shared_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  const u64 limit = warp.block->shared.size();
  if (address > limit || size > limit - address) out_of_bounds(warp, i, lane, address, size, "shared", write);
  return warp.shared + address;
}

std::byte* local_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  const u64 limit = warp.launch->program->local_bytes;
  if (address > limit || size > limit - address) out_of_bounds(warp, i, lane, address, size, "local", write);
  return warp.local + static_cast<u64>(lane) * limit + address;
}

std::byte* generic_place(Warp& warp, const Instruction& i, int lane, u64 address, u32 size, bool write) {
  if (address - kSharedWindow < kWindowSize) {
    return shared_place(warp, i, lane, address - kSharedWindow, size, write);
  }
  if (address - kLocalWindow < kWindowSize) {
    return local_place(warp, i, lane, address - kLocalWindow, size, write);
  }
  return global_place(warp, i, lane, address, size, write);
}

// ---- Counting --------------------------------------------------------------------------------------------

void count_global(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size, bool write) {
  observe::Counters& counters = *warp.counters;
  observe::InstructionCount& count = counters.instructions[i.index];
  u64 sectors[kLanes];
  int found = 0;
  bool sorted = true;
  for_lanes(executing, [&](int lane) {
    const u64 sector = address[lane] >> 5;
    if (found > 0 && sector == sectors[found - 1]) return;
    sorted = sorted && (found == 0 || sector > sectors[found - 1]);
    sectors[found++] = sector;
  });
  if (!sorted) {
    std::sort(sectors, sectors + found);
    found = static_cast<int>(std::unique(sectors, sectors + found) - sectors);
  }
  count.requests += 1;
  count.bytes += static_cast<u64>(std::popcount(executing)) * size;
  count.sectors += static_cast<u64>(found);
  const std::vector<Segment>& segments = warp.launch->segments;
  u32 at = segments.empty() ? 0 : warp.last_segment[i.index];
  for (int k = 0; k < found; ++k) {
    const u64 byte = sectors[k] << 5;
    if (byte + 31 < segments[at].base || byte >= segments[at].base + segments[at].size) {
      const Segment* segment = segment_below(segments, byte + 31);
      if (segment == nullptr || byte >= segment->base + segment->size) continue;
      at = static_cast<u32>(segment - segments.data());
    }
    const u64 sector = sectors[k] - (segments[at].base >> 5);
    observe::Touched& touched = counters.segments[at];
    (write ? touched.written : touched.read)[sector / 64] |= u64(1) << (sector % 64);
  }
}

// A pass serves each bank once. Accesses of 8 and 16 bytes go half and quarter a warp at a time.
void count_shared(Warp& warp, const Instruction& i, const u64* address, u32 executing, u32 size) {
  observe::InstructionCount& count = warp.counters->instructions[i.index];
  count.requests += 1;
  count.bytes += static_cast<u64>(std::popcount(executing)) * size;
  const int parts = size > 4 ? static_cast<int>(size / 4) : 1;
  const int width = kLanes / parts;
  const u32 words = (size + 3) / 4;
  for (int part = 0; part < parts; ++part) {
    const u32 members = (executing >> (part * width)) & (width == 32 ? kAllLanes : (1u << width) - 1);
    if (members == 0) continue;
    u32 seen[32][32];  // bank → the distinct words asked of it
    u8 depth[32] = {};
    u32 deepest = 0;
    for_lanes(members, [&](int lane) {
      for (u32 k = 0; k < words; ++k) {
        const u32 word = static_cast<u32>(address[part * width + lane] >> 2) + k;
        const u32 bank = word & 31;
        u32 at = 0;
        while (at < depth[bank] && seen[bank][at] != word) ++at;
        if (at == depth[bank]) {
          seen[bank][depth[bank]++] = word;
          deepest = std::max<u32>(deepest, depth[bank]);
        }
      }
    });
    count.wavefronts += deepest;
    count.ideal += 1;
  }
}

}  // namespace flashpath::exec
