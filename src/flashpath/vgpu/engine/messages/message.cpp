#include "messages/message.h"

#include <cstdio>

namespace flashpath {
namespace {

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
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      (out += '\\') += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

}  // namespace flashpath
