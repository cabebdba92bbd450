#include "binary/fat_binary.h"

#include <cstdint>
#include <cstring>

#include "messages/failure.h"

namespace flashpath::runtime {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kBinaryMagic = 0xba55ed50;
constexpr std::uint32_t kLinkedVersion = 2;
constexpr std::uint16_t kPtx = 1;
constexpr std::uint16_t kCubin = 2;
constexpr std::uint64_t kCompressed = 0x2000 | 0x8000;  // in Entry::flags: LZ4, zstd

struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const std::byte* binary;
  const std::byte* const* linked;  // the fat binaries of the source files, then a null pointer
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

void add_images(const std::byte* binary, bool is_linked, std::vector<Image>& images) {
  const auto header = read<Header>(binary);
  if (header.magic != kBinaryMagic) throw Failure(Message("vgpu.device-code-unknown"));
  const std::byte* at = binary + header.header_size;
  const std::byte* const end = at + header.size;
  while (at < end) {
    const auto entry = read<Entry>(at);
    if (entry.flags & kCompressed) throw Failure(Message("vgpu.device-code-compressed"));
    const char* const text = reinterpret_cast<const char*>(at) + entry.header_size;
    const std::size_t size = entry.kind == kPtx ? strnlen(text, entry.size) : entry.size;  // PTX is padded
    if (entry.kind == kPtx || entry.kind == kCubin) {
      images.push_back({entry.kind == kPtx, static_cast<int>(entry.architecture), is_linked, {text, size}});
    }
    at += entry.header_size + entry.size;
  }
}

}  // namespace

std::vector<Image> images_of(const void* wrapper) {
  const auto outer = read<Wrapper>(static_cast<const std::byte*>(wrapper));
  if (outer.magic != kWrapperMagic) throw Failure(Message("vgpu.device-code-none"));
  std::vector<Image> images;
  add_images(outer.binary, false, images);
  if (outer.version == kLinkedVersion) {
    for (const std::byte* const* each = outer.linked; *each != nullptr; ++each) add_images(*each, true, images);
  }
  return images;
}

}  // namespace flashpath::runtime
