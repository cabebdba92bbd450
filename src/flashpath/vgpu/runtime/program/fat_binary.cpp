#include "program/fat_binary.h"

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace flashpath::runtime {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kBinaryMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kCubin = 2;
constexpr std::uint64_t kCompressed = 0x2000 | 0x8000;  // in Entry::flags: LZ4, zstd

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* binary;
  const void* linked;
};

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;  // of all entries
};

struct Entry {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t size;
  std::uint32_t compressed_size;
  std::uint32_t options;
  std::uint16_t minor;
  std::uint16_t major;
  std::uint32_t architecture;
  std::uint32_t name;
  std::uint32_t name_size;
  std::uint64_t flags;
};

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace

std::vector<Image> images_of(const void* wrapper) {
  const auto outer = read<Wrapper>(static_cast<const std::byte*>(wrapper));
  if (outer.magic != kWrapperMagic) throw std::runtime_error("what was registered as device code is none");
  const auto header = read<Header>(outer.binary);
  if (header.magic != kBinaryMagic) throw std::runtime_error("the program's device code has no form that is known");
  std::vector<Image> images;
  const std::byte* at = outer.binary + header.header_size;
  const std::byte* const end = at + header.size;
  while (at < end) {
    const auto entry = read<Entry>(at);
    if (entry.flags & kCompressed) {
      throw std::runtime_error("the program's device code is compressed: compile it with --no-compress");
    }
    const char* const text = reinterpret_cast<const char*>(at) + entry.header_size;
    const std::size_t size = entry.kind == kPtx ? strnlen(text, entry.size) : entry.size;  // PTX is padded
    if (entry.kind == kPtx || entry.kind == kCubin) {
      images.push_back({entry.kind == kPtx, static_cast<int>(entry.architecture), {text, size}});
    }
    at += entry.header_size + entry.size;
  }
  return images;
}

}  // namespace flashpath::runtime
