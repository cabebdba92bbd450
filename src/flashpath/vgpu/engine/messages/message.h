// What is said, as data: a code of the catalogue flashpath/vgpu/messages.py and its parameters. Sentences are made from
// it where somebody reads them, in the language of the reader.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace flashpath {

class Message;

// A named text, number or message.
struct MessageParameter {
  std::string name;
  std::variant<std::string, std::uint64_t, std::vector<Message>> value;  // a message is a list of one

  MessageParameter(const char* name, std::string text) : name(name), value(std::move(text)) {}
  MessageParameter(const char* name, const char* text) : name(name), value(std::string(text)) {}
  template <std::integral T>
  MessageParameter(const char* name, T number) : name(name), value(static_cast<std::uint64_t>(number)) {}
  MessageParameter(const char* name, Message message);
};

class Message {
 public:
  Message() = default;  // says nothing
  Message(const char* code, std::vector<MessageParameter> parameters = {}) : code(code), parameters(std::move(parameters)) {}

  bool empty() const { return code.empty(); }
  // As flashpath.messages.Message.from_data reads it.
  std::string json() const;

  std::string code;  // such as "vgpu.access-null"
  std::vector<MessageParameter> parameters;
};

inline MessageParameter::MessageParameter(const char* name, Message message)
    : name(name), value(std::vector<Message>{std::move(message)}) {}

// A text as JSON writes it; what is not UTF-8 in it is replaced.
std::string quoted(std::string_view text);

}  // namespace flashpath
