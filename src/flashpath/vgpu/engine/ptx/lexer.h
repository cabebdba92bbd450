// Splits PTX text into tokens. Whitespace and comments separate and mean nothing more.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/error.h"

namespace flashpath::ptx {

enum class TokenKind : uint8_t {
  kEnd,
  kIdentifier,  // name, %name, $name, _
  kDotted,      // .name, .name::name: a directive, a modifier, a component
  kNumber,      // 12, 0x1FU, 0f3F800000, 1.5e3: its value is not looked at here
  kString,      // with its quotes
  kSign,        // punctuation; Token::sign says which
};

// One or two characters of punctuation as one number, so that a parser may switch on it.
constexpr uint16_t sign(char first, char second = '\0') {
  return static_cast<uint16_t>(static_cast<unsigned char>(first) | static_cast<unsigned char>(second) << 8);
}

struct Token {
  TokenKind kind = TokenKind::kEnd;
  uint16_t sign = 0;
  std::string_view text;
  Place place;
};

// The parameter `got` of a message about it.
MessageParameter got(const Token& token);

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  Token next();

 private:
  void skip_blank();
  size_t end_of_name(size_t from) const;
  size_t end_of_dotted(size_t from) const;
  size_t end_of_number(size_t from) const;
  size_t end_of_string(size_t from) const;
  Token make(TokenKind kind, size_t end);
  char at(size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
  Place place(size_t position) const {
    return {line_, static_cast<uint32_t>(position - line_start_ + 1)};
  }

  std::string_view text_;
  size_t position_ = 0;
  size_t line_start_ = 0;
  uint32_t line_ = 1;
  bool after_value_ = false;  // the last token was a number or `)`: a `%` is then the operator
};

}  // namespace flashpath::ptx
