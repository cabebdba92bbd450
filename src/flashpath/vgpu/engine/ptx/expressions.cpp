// Constant expressions, folded as they are read: C's operators on 64-bit integers and doubles.
#include <bit>
#include <charconv>
#include <limits>

#include "ptx/grammar.h"

namespace flashpath::ptx {
namespace {

using Kind = Constant::Kind;

Constant of_int(int64_t value) { return {Kind::kSigned, static_cast<uint64_t>(value)}; }
Constant of_double(double value) { return {Kind::kFloat64, std::bit_cast<uint64_t>(value)}; }

bool is_float(const Constant& c) { return c.kind == Kind::kFloat64 || c.kind == Kind::kFloat32; }

double as_double(const Constant& c) {
  switch (c.kind) {
    case Kind::kSigned:
      return static_cast<double>(static_cast<int64_t>(c.bits));
    case Kind::kUnsigned:
      return static_cast<double>(c.bits);
    case Kind::kFloat32:
      return std::bit_cast<float>(static_cast<uint32_t>(c.bits));
    case Kind::kFloat64:
      break;
  }
  return std::bit_cast<double>(c.bits);
}

bool is_true(const Constant& c) { return is_float(c) ? as_double(c) != 0 : c.bits != 0; }

// A double outside the range becomes its nearer end.
uint64_t to_integer(double value, bool is_signed) {
  if (value != value) return 0;
  if (is_signed) {
    if (value >= 0x1p63) return static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    if (value < -0x1p63) return static_cast<uint64_t>(std::numeric_limits<int64_t>::min());
    return static_cast<uint64_t>(static_cast<int64_t>(value));
  }
  if (value <= 0) return 0;
  return value >= 0x1p64 ? std::numeric_limits<uint64_t>::max() : static_cast<uint64_t>(value);
}

int precedence(uint16_t operation) {
  switch (operation) {
    case sign('|', '|'):
      return 1;
    case sign('&', '&'):
      return 2;
    case sign('|'):
      return 3;
    case sign('^'):
      return 4;
    case sign('&'):
      return 5;
    case sign('=', '='):
    case sign('!', '='):
      return 6;
    case sign('<'):
    case sign('>'):
    case sign('<', '='):
    case sign('>', '='):
      return 7;
    case sign('<', '<'):
    case sign('>', '>'):
      return 8;
    case sign('+'):
    case sign('-'):
      return 9;
    case sign('*'):
    case sign('/'):
    case sign('%'):
      return 10;
    default:
      return 0;
  }
}

constexpr int kMultiplicative = 10;

template <class T>
bool compare(uint16_t operation, T a, T b) {
  switch (operation) {
    case sign('=', '='):
      return a == b;
    case sign('!', '='):
      return a != b;
    case sign('<'):
      return a < b;
    case sign('>'):
      return a > b;
    case sign('<', '='):
      return a <= b;
    default:
      return a >= b;
  }
}

bool is_comparison(uint16_t operation) { return precedence(operation) == 6 || precedence(operation) == 7; }

// Empty where the operator has no meaning for doubles.
std::optional<Constant> fold_doubles(uint16_t operation, double a, double b) {
  switch (operation) {
    case sign('+'):
      return of_double(a + b);
    case sign('-'):
      return of_double(a - b);
    case sign('*'):
      return of_double(a * b);
    case sign('/'):
      return of_double(a / b);
    default:
      return std::nullopt;
  }
}

// Empty for a division by zero. All arithmetic is done unsigned, where overflow wraps.
std::optional<Constant> fold_integers(uint16_t operation, Constant a, Constant b) {
  const bool is_signed = a.kind == Kind::kSigned && b.kind == Kind::kSigned;
  const auto x = static_cast<int64_t>(a.bits), y = static_cast<int64_t>(b.bits);
  if (is_comparison(operation)) {
    return of_int(is_signed ? compare(operation, x, y) : compare(operation, a.bits, b.bits));
  }
  const auto result = [&](uint64_t bits) { return Constant{is_signed ? Kind::kSigned : Kind::kUnsigned, bits}; };
  switch (operation) {
    case sign('|'):
      return result(a.bits | b.bits);
    case sign('^'):
      return result(a.bits ^ b.bits);
    case sign('&'):
      return result(a.bits & b.bits);
    case sign('<', '<'):
      return Constant{a.kind, b.bits < 64 ? a.bits << b.bits : 0};
    case sign('>', '>'):
      if (a.kind == Kind::kSigned) return of_int(x >> (b.bits < 64 ? b.bits : 63));
      return Constant{a.kind, b.bits < 64 ? a.bits >> b.bits : 0};
    case sign('+'):
      return result(a.bits + b.bits);
    case sign('-'):
      return result(a.bits - b.bits);
    case sign('*'):
      return result(a.bits * b.bits);
    default:
      break;
  }
  const bool division = operation == sign('/');
  if (b.bits == 0) return std::nullopt;
  if (!is_signed) return result(division ? a.bits / b.bits : a.bits % b.bits);
  if (y == -1) return result(division ? 0 - a.bits : 0);  // the one quotient that overflows is among these
  return result(static_cast<uint64_t>(division ? x / y : x % y));
}

std::optional<Constant> read_integer(std::string_view text) {
  Constant value;
  if (text.ends_with('U')) {
    value.kind = Kind::kUnsigned;
    text.remove_suffix(1);
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = text[1] | 0x20;
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(base == 8 ? 1 : 2);
  }
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value.bits, base);
  if (error != std::errc() || stop != end) return std::nullopt;
  if (value.bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) value.kind = Kind::kUnsigned;
  return value;
}

// 0f and eight digits, 0d and sixteen.
std::optional<Constant> read_float_bits(std::string_view text) {
  const bool single = (text[1] | 0x20) == 'f';
  const std::string_view digits = text.substr(2);
  if (digits.size() != (single ? 8 : 16)) return std::nullopt;
  Constant value{single ? Kind::kFloat32 : Kind::kFloat64, 0};
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value.bits, 16);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<Constant> read_number(std::string_view text) {
  if (text.size() > 2 && text[0] == '0') {
    const char letter = text[1] | 0x20;
    if (letter == 'f' || letter == 'd') return read_float_bits(text);
    if (letter == 'x') return read_integer(text);
  }
  if (text.find_first_of(".eE") == std::string_view::npos) return read_integer(text);
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return of_double(value);
}

}  // namespace

bool Grammar::at_constant() const {
  if (at(TokenKind::kNumber)) return true;
  if (at(TokenKind::kIdentifier)) return token_.text == "WARP_SZ";
  return at(sign('-')) || at(sign('+')) || at(sign('~')) || at(sign('!')) || at(sign('('));
}

Constant Grammar::parse_constant() { return parse_ternary(); }

Constant Grammar::parse_ternary() {
  const Nested nested(*this);
  const Constant condition = parse_binary(1);
  if (!accept(sign('?'))) return condition;
  const Constant then = parse_ternary();
  expect(sign(':'));
  const Constant otherwise = parse_ternary();
  return is_true(condition) ? then : otherwise;
}

Constant Grammar::parse_binary(int lowest) {
  Constant left = parse_unary();
  while (token_.kind == TokenKind::kSign) {
    const Token operation = token_;
    const int level = precedence(operation.sign);
    if (level == 0 || level < lowest) break;
    advance();
    const Constant right = parse_binary(level + 1);
    if (operation.sign == sign('&', '&')) {
      left = of_int(is_true(left) && is_true(right));
    } else if (operation.sign == sign('|', '|')) {
      left = of_int(is_true(left) || is_true(right));
    } else if (is_float(left) || is_float(right)) {
      const double a = as_double(left), b = as_double(right);
      const auto folded = is_comparison(operation.sign) ? of_int(compare(operation.sign, a, b))
                                                        : fold_doubles(operation.sign, a, b);
      if (!folded) fail(operation.place, {"vgpu.ptx.operation-on-floats", {got(operation)}});
      left = *folded;
    } else {
      const auto folded = fold_integers(operation.sign, left, right);
      if (!folded) fail(operation.place, "vgpu.ptx.division-by-zero");
      left = *folded;
    }
  }
  return left;
}

Constant Grammar::parse_unary() {
  const Nested nested(*this);
  const Token operation = token_;
  if (accept(sign('+'))) return parse_unary();
  if (accept(sign('-'))) {
    const Constant value = parse_unary();
    constexpr uint64_t kSign32 = uint64_t{1} << 31, kSign64 = uint64_t{1} << 63;
    if (value.kind == Kind::kFloat32) return {value.kind, value.bits ^ kSign32};
    if (value.kind == Kind::kFloat64) return {value.kind, value.bits ^ kSign64};
    return {value.kind, 0 - value.bits};
  }
  if (accept(sign('!'))) return of_int(!is_true(parse_unary()));
  if (accept(sign('~'))) {
    const Constant value = parse_unary();
    if (is_float(value)) fail(operation.place, "vgpu.ptx.complement-of-float");
    return {value.kind, ~value.bits};
  }
  if (!accept(sign('('))) return parse_primary();
  if (at_directive(".s64") || at_directive(".u64")) {
    const bool is_signed = at_directive(".s64");
    advance();
    expect(sign(')'));
    const Constant value = parse_unary();
    return {is_signed ? Kind::kSigned : Kind::kUnsigned,
            is_float(value) ? to_integer(as_double(value), is_signed) : value.bits};
  }
  const Constant value = parse_ternary();
  expect(sign(')'));
  return value;
}

Constant Grammar::parse_primary() {
  if (at(TokenKind::kIdentifier) && token_.text == "WARP_SZ") {
    advance();
    return of_int(32);
  }
  if (!at(TokenKind::kNumber)) fail_expected("vgpu.ptx.constant");
  const auto value = read_number(token_.text);
  if (!value) {
    fail(token_.place, {"vgpu.ptx.malformed-number", {got(token_)}});
  }
  advance();
  return *value;
}

// `+4`, `-8`, `+-4`, `+2*4-1` after a name; none is zero.
int64_t Grammar::parse_offset() {
  uint64_t offset = 0;
  while (at(sign('+')) || at(sign('-'))) {
    const Token operation = token_;
    advance();
    const Constant term = parse_binary(kMultiplicative);
    if (is_float(term)) fail(operation.place, "vgpu.ptx.float-as-offset");
    offset = operation.sign == sign('+') ? offset + term.bits : offset - term.bits;
  }
  return static_cast<int64_t>(offset);
}

uint64_t Grammar::parse_size(const char* what) {
  const Token start = token_;
  if (!at_constant()) fail_expected(what);
  const Constant value = parse_constant();
  if (is_float(value) || (value.kind == Kind::kSigned && static_cast<int64_t>(value.bits) < 0)) {
    fail(start.place, {"vgpu.ptx.negative-or-fractional", {{"expected", Message(what)}}});
  }
  return value.bits;
}

}  // namespace flashpath::ptx
