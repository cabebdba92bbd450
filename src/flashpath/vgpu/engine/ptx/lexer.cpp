#include "ptx/lexer.h"

#include <algorithm>
#include <array>

namespace flashpath::ptx {
namespace {

enum Class : uint8_t { kBlank = 1, kName = 2, kDigit = 4 };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (unsigned char c : {' ', '\t', '\r', '\v', '\f'}) classes[c] = kBlank;
  for (int c = 'a'; c <= 'z'; ++c) classes[c] = kName;
  for (int c = 'A'; c <= 'Z'; ++c) classes[c] = kName;
  for (int c = '0'; c <= '9'; ++c) classes[c] = kName | kDigit;
  for (unsigned char c : {'_', '$'}) classes[c] = kName;
  return classes;
}();

bool is(char c, Class wanted) { return kClasses[static_cast<unsigned char>(c)] & wanted; }

bool pairs_up(char first, char second) {
  switch (first) {
    case '<':
      return second == '<' || second == '=';
    case '>':
      return second == '>' || second == '=';
    case '=':
    case '!':
      return second == '=';
    case '&':
    case '|':
      return second == first;
    default:
      return false;
  }
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr size_t kLongest = 60;
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "'";
  for (char c : text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F) {
      out += c;
    } else {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  out += text.size() > kLongest ? "...'" : "'";
  return out;
}

MessageParameter got(const Token& token) {
  if (token.kind == TokenKind::kEnd) return {"got", Message("vgpu.ptx.end-of-text")};
  return {"got", quoted(token.text)};
}

Token Lexer::next() {
  skip_blank();
  const char c = at(position_);
  if (position_ >= text_.size()) return make(TokenKind::kEnd, position_);
  if (is(c, kDigit)) return make(TokenKind::kNumber, end_of_number(position_));
  if (is(c, kName)) return make(TokenKind::kIdentifier, end_of_name(position_));
  if (c == '%' && is(at(position_ + 1), kName) && !(after_value_ && is(at(position_ + 1), kDigit))) {
    return make(TokenKind::kIdentifier, end_of_name(position_ + 1));
  }
  if (c == '.' && is(at(position_ + 1), kName)) {
    // `.2d` goes on from an opcode, `.5` stands alone.
    const bool joined = position_ > 0 && is(text_[position_ - 1], kName);
    if (joined || !is(at(position_ + 1), kDigit)) return make(TokenKind::kDotted, end_of_dotted(position_));
    return make(TokenKind::kNumber, end_of_number(position_));
  }
  if (c == '"') return make(TokenKind::kString, end_of_string(position_));
  constexpr std::string_view kSigns = "{}()[]<>,;:=+-*/%&|^~!?@";
  if (c == '\0' || kSigns.find(c) == std::string_view::npos) {
    throw Error(place(position_), {"vgpu.ptx.no-token", {{"got", quoted({&text_[position_], 1})}}});
  }
  return make(TokenKind::kSign, position_ + (pairs_up(c, at(position_ + 1)) ? 2 : 1));
}

Token Lexer::make(TokenKind kind, size_t end) {
  Token token{kind, 0, text_.substr(position_, end - position_), place(position_)};
  if (kind == TokenKind::kSign) token.sign = sign(token.text[0], token.text.size() > 1 ? token.text[1] : '\0');
  after_value_ = kind == TokenKind::kNumber || token.sign == sign(')');
  position_ = end;
  return token;
}

void Lexer::skip_blank() {
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (c == '\n') {
      line_start_ = ++position_;
      ++line_;
    } else if (is(c, kBlank)) {
      ++position_;
    } else if (c == '/' && at(position_ + 1) == '/') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && at(position_ + 1) == '*') {
      const size_t end = text_.find("*/", position_ + 2);
      if (end == std::string_view::npos) throw Error(place(position_), "vgpu.ptx.endless-comment");
      for (; position_ < end + 2; ++position_) {
        if (text_[position_] != '\n') continue;
        line_start_ = position_ + 1;
        ++line_;
      }
    } else {
      return;
    }
  }
}

size_t Lexer::end_of_name(size_t from) const {
  while (is(at(from), kName)) ++from;
  return from;
}

size_t Lexer::end_of_dotted(size_t from) const {
  size_t end = end_of_name(from + 1);
  while (at(end) == ':' && at(end + 1) == ':' && is(at(end + 2), kName)) end = end_of_name(end + 2);
  return end;
}

size_t Lexer::end_of_number(size_t from) const {
  const char second = at(from + 1);
  const bool decimal = at(from) != '0' || is(second, kDigit) || !is(second, kName) || second == 'e' || second == 'E';
  if (!decimal) return end_of_name(from);  // 0x, 0b, 0f, 0d, 0U
  const auto digits = [this](size_t position) {
    while (is(at(position), kDigit)) ++position;
    return position;
  };
  size_t end = digits(from);
  if (at(end) == '.') end = digits(end + 1);
  if (at(end) == 'e' || at(end) == 'E') {
    const size_t exponent = end + (at(end + 1) == '+' || at(end + 1) == '-' ? 2 : 1);
    if (is(at(exponent), kDigit)) end = digits(exponent);
  }
  return end_of_name(end);  // a suffix, or what makes the number malformed
}

size_t Lexer::end_of_string(size_t from) const {
  for (size_t end = from + 1; end < text_.size() && text_[end] != '\n'; ++end) {
    if (text_[end] == '"') return end + 1;
    if (text_[end] == '\\' && at(end + 1) != '\n') ++end;
  }
  throw Error(place(from), "vgpu.ptx.endless-string");
}

}  // namespace flashpath::ptx
