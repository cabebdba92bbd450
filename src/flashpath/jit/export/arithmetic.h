// Whole numbers as Python has them: of any size that occurs here, and with quotients that are rounded down.
#pragma once

#include <string>

#include "words.h"

namespace exported {

using Wide = __int128;  // no extent, address or product of two overflows it

inline Wide floor_div(Wide a, Wide b) {
  if (b == 0) throw Problem{"ValueError", words::kZero};
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}
inline Wide floor_mod(Wide a, Wide b) { return a - floor_div(a, b) * b; }
inline Wide least(Wide a, Wide b) { return a < b ? a : b; }
inline Wide most(Wide a, Wide b) { return a > b ? a : b; }
inline Wide shifted(Wide a, Wide b, bool left) {
  constexpr Wide kMost = 62;
  if (b < 0 || (left && b > kMost)) throw Problem{"ValueError", words::kShift};
  return left ? a << b : a >> (b > kMost ? kMost : b);
}
inline Wide shifted_left(Wide a, Wide b) { return shifted(a, b, true); }
inline Wide shifted_right(Wide a, Wide b) { return shifted(a, b, false); }
inline bool apart(Wide a, Wide a_bytes, Wide b, Wide b_bytes) { return a + a_bytes <= b || b + b_bytes <= a; }
inline Wide bit_length(Wide a) {
  Wide bits = 0;
  for (a = a < 0 ? -a : a; a != 0; a /= 2) ++bits;
  return bits;
}

inline std::string digits(Wide value) {
  std::string text;
  const bool is_negative = value < 0;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(is_negative ? -(value % 10) : value % 10)));
    value /= 10;
  } while (value != 0);
  return is_negative ? "-" + text : text;
}

}  // namespace exported
