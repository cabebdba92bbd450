// Sizes that programs give: what is too large for any memory stays so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace flashpath::runtime {

inline constexpr std::size_t kLargestSize = std::numeric_limits<std::size_t>::max();
inline constexpr std::uint64_t kMostAddress = std::uint64_t{1} << 47;  // where the host's memory ends

inline std::size_t product(std::size_t a, std::size_t b) {
  std::size_t result;
  return __builtin_mul_overflow(a, b, &result) ? kLargestSize : result;
}

inline std::size_t sum(std::size_t a, std::size_t b) {
  std::size_t result;
  return __builtin_add_overflow(a, b, &result) ? kLargestSize : result;
}

inline std::size_t rounded(std::size_t size, std::size_t unit) {
  return size > kLargestSize - unit ? kLargestSize : (size + unit - 1) / unit * unit;
}

}  // namespace flashpath::runtime
