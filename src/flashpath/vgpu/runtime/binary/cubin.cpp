#include "binary/cubin.h"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace flashpath::runtime {
namespace {

// An attribute of .nv.info: how the value is kept, which attribute, and the value's size or the value itself. These
// two hold the index of a symbol and a number.
constexpr std::uint8_t kSizedValue = 0x04;
constexpr std::uint8_t kFrameSize = 0x11;
constexpr std::uint8_t kRegisterCount = 0x2f;

struct Attribute {
  std::uint8_t form;
  std::uint8_t which;
  std::uint16_t size;
};

struct Pair {
  std::uint32_t symbol;
  std::uint32_t value;
};

template <class T>
T read(std::string_view bytes, std::size_t at) {
  T value{};
  if (at + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view c_string(std::string_view bytes, std::size_t at) {
  if (at >= bytes.size()) return {};
  return bytes.substr(at, bytes.substr(at).find('\0'));
}

std::map<std::string_view, std::string_view> sections_of(std::string_view elf) {
  const auto header = read<Elf64_Ehdr>(elf, 0);
  std::vector<Elf64_Shdr> headers;
  for (unsigned k = 0; k < header.e_shnum; ++k) {
    headers.push_back(read<Elf64_Shdr>(elf, header.e_shoff + std::size_t(k) * header.e_shentsize));
  }
  std::map<std::string_view, std::string_view> sections;
  if (header.e_shstrndx >= headers.size()) return sections;
  const std::size_t names = headers[header.e_shstrndx].sh_offset;
  for (const Elf64_Shdr& each : headers) {
    if (each.sh_type == SHT_NOBITS || each.sh_offset + each.sh_size > elf.size()) continue;
    sections.emplace(c_string(elf, names + each.sh_name), elf.substr(each.sh_offset, each.sh_size));
  }
  return sections;
}

}  // namespace

std::map<std::string, Resources, std::less<>> resources_of(std::string_view cubin) {
  std::map<std::string, Resources, std::less<>> found;
  if (!cubin.starts_with("\x7f" "ELF")) return found;
  auto sections = sections_of(cubin);
  const std::string_view info = sections[".nv.info"];
  const std::string_view symbols = sections[".symtab"];
  const std::string_view names = sections[".strtab"];
  for (std::size_t at = 0; at + sizeof(Attribute) <= info.size();) {
    const auto attribute = read<Attribute>(info, at);
    at += sizeof attribute;
    if (attribute.form != kSizedValue) continue;
    const auto pair = read<Pair>(info, at);
    at += attribute.size;
    if (attribute.size != sizeof pair) continue;
    if (attribute.which != kRegisterCount && attribute.which != kFrameSize) continue;
    const auto symbol = read<Elf64_Sym>(symbols, pair.symbol * sizeof(Elf64_Sym));
    Resources& resources = found[std::string(c_string(names, symbol.st_name))];
    (attribute.which == kRegisterCount ? resources.registers : resources.local_bytes) = static_cast<int>(pair.value);
  }
  return found;
}

}  // namespace flashpath::runtime
