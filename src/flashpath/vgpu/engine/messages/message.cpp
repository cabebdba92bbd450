#include "messages/message.h"

#include <algorithm>
#include <cstdio>

namespace flashpath {
namespace {

// How many bytes the character has that a text begins with; 0: none, in UTF-8.
std::size_t bytes_of_character(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t count = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < count) return 0;
  for (std::size_t k = 1; k < count; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return 0;
  }
  // Written longer than need be; half of a surrogate pair; beyond the last character.
  const bool is_none = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0) ||
                       (lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90);
  return is_none ? 0 : count;
}

std::string json_of(const MessageParameter& parameter) {
  if (const auto* text = std::get_if<std::string>(&parameter.value)) return quoted(*text);
  if (const auto* number = std::get_if<std::uint64_t>(&parameter.value)) return std::to_string(*number);
  return "{\"message\": " + std::get<std::vector<Message>>(parameter.value).front().json() + "}";
}

}  // namespace

std::string Message::json() const {
  std::string all;
  for (const MessageParameter& each : parameters) all += (all.empty() ? "" : ", ") + quoted(each.name) + ": " + json_of(each);
  return "{\"code\": " + quoted(code) + ", \"params\": {" + all + "}}";
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const char c = text.front();
    const std::size_t bytes = bytes_of_character(text);
    if (bytes == 0) {
      out += "\xef\xbf\xbd";  // the character that stands for what is none
    } else if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += text.substr(0, bytes);
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return out + "\"";
}

}  // namespace flashpath
