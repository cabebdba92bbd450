#include "exec/device_library/print.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "exec/memory/addresses.h"

namespace flashpath::exec {
namespace {

constexpr std::size_t kLongestString = 1 << 16;
constexpr std::size_t kLongestOutput = 1 << 20;  // of one printf: as much as a GPU's buffer has room for
constexpr std::size_t kWidestField = 1 << 12;    // the most that a width or a precision is heeded

// Reads the arguments of a printf one after the other: each stands at a multiple of its size, as C promotes it.
class Arguments {
 public:
  Arguments(Warp& warp, const Instruction& i, int lane, u64 address)
      : warp_(warp), i_(i), lane_(lane), address_(address) {}

  template <class T>
  T next() {
    address_ = (address_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, generic_place(warp_, i_, lane_, address_, sizeof(T), false), sizeof(T));
    address_ += sizeof(T);
    ++count_;
    return value;
  }
  u32 count() const { return count_; }

 private:
  Warp& warp_;
  const Instruction& i_;
  int lane_;
  u64 address_;
  u32 count_ = 0;
};

template <class... T>
std::string printed(const std::string& specification, T... values) {
  const int size = std::snprintf(nullptr, 0, specification.c_str(), values...);
  if (size <= 0) return {};
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  std::snprintf(text.data(), text.size(), specification.c_str(), values...);
  text.pop_back();
  return text;
}

// One conversion, from `%` to its letter; `length` is its hh, h, l, ll, j, z or t.
struct Conversion {
  std::string flags;   // with width and precision, as far as they are written out
  std::string length;
  char letter = 0;
};

// A width or a precision, with the flags `-` and `0` before it.
std::string bounded(std::string_view number) {
  const std::size_t start = number.find_first_of("123456789");
  if (start == number.npos) return std::string(number.substr(0, 2));
  std::size_t value = 0;
  std::from_chars(number.data() + start, number.data() + number.size(), value);
  const bool fits = number.size() - start <= 9 && value <= kWidestField;
  return std::string(number.substr(0, std::min<std::size_t>(start, 2))) +
         std::to_string(fits ? value : kWidestField);
}

Conversion read_conversion(const std::string& text, std::size_t& at, Arguments& arguments) {
  Conversion found;
  while (at < text.size() && std::strchr("-+ #0123456789.*", text[at])) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
    if (end != at) {
      found.flags += bounded(std::string_view(text).substr(at, end - at));
      at = end;
    } else if (text[at++] == '*') {
      found.flags += bounded(std::to_string(arguments.next<s32>()));
    } else {
      found.flags += text[at - 1];
    }
  }
  for (; at < text.size() && std::strchr("hljztL", text[at]); ++at) found.length += text[at];
  if (at < text.size()) found.letter = text[at++];
  return found;
}

std::string convert(const Conversion& c, Warp& warp, const Instruction& i, int lane, Arguments& arguments) {
  const std::string start = "%" + c.flags;
  const bool wide = c.length == "l" || c.length == "ll" || c.length == "j" || c.length == "z" || c.length == "t";
  const std::string narrow = c.length == "h" || c.length == "hh" ? c.length : "";
  switch (c.letter) {
    case 'd': case 'i':
      if (wide) return printed(start + "ll" + c.letter, static_cast<long long>(arguments.next<s64>()));
      return printed(start + narrow + c.letter, arguments.next<s32>());
    case 'u': case 'o': case 'x': case 'X':
      if (wide) return printed(start + "ll" + c.letter, static_cast<unsigned long long>(arguments.next<u64>()));
      return printed(start + narrow + c.letter, arguments.next<u32>());
    case 'c': return printed(start + "c", arguments.next<s32>());
    case 'e': case 'E': case 'f': case 'F': case 'g': case 'G': case 'a': case 'A':
      return printed(start + c.letter, arguments.next<f64>());
    case 'p': return printed(start + "p", reinterpret_cast<void*>(arguments.next<u64>()));
    case 's': return printed(start + "s", read_string(warp, i, lane, arguments.next<u64>()).c_str());
    case '%': return "%";
    default: return start + c.length + (c.letter ? std::string(1, c.letter) : "");  // as written
  }
}

}  // namespace

std::string read_string(Warp& warp, const Instruction& i, int lane, u64 address) {
  std::string text;
  while (text.size() < kLongestString) {
    const char next = static_cast<char>(*generic_place(warp, i, lane, address++, 1, false));
    if (next == '\0') break;
    text += next;
  }
  return text;
}

std::string format(Warp& warp, const Instruction& i, int lane, u64 format_address, u64 buffer, u32& count) {
  const std::string text = read_string(warp, i, lane, format_address);
  Arguments arguments(warp, i, lane, buffer);
  std::string out;
  for (std::size_t at = 0; at < text.size() && out.size() < kLongestOutput;) {
    if (text[at] != '%') {
      out += text[at++];
      continue;
    }
    const Conversion conversion = read_conversion(text, ++at, arguments);
    out += convert(conversion, warp, i, lane, arguments);
  }
  count = arguments.count();
  return out;
}

}  // namespace flashpath::exec
