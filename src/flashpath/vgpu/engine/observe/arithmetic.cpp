#include "observe/arithmetic.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>
#include <vector>

namespace flashpath::observe {
namespace {

constexpr std::array<std::pair<std::string_view, u32>, 9> kOfThread = {{
    {"add", 1}, {"sub", 1}, {"mul", 1}, {"div", 1}, {"sqrt", 1}, {"rcp", 1}, {"rsqrt", 1}, {"fma", 2}, {"mad", 2},
}};

std::vector<std::string_view> words_of(std::string_view opcode) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t dot = opcode.find('.');
    words.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return words;
    opcode.remove_prefix(dot + 1);
  }
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

u32 number(std::string_view text) {
  u32 value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

bool is_element(std::string_view word) {
  for (const std::string_view prefix : {"bf", "tf", "f", "s", "u", "b"}) {
    if (word.starts_with(prefix) && is_number(word.substr(prefix.size()))) return true;
  }
  return word.size() >= 4 && word[0] == 'e' && word[2] == 'm' && is_number(word.substr(1, 1)) &&
         is_number(word.substr(3));
}

struct Shape {
  u32 m = 0;
  u32 n = 0;
  u32 k = 0;
};

// Of "m16n8k16".
bool read_shape(std::string_view word, Shape& shape) {
  const std::size_t n = word.find('n');
  const std::size_t k = word.find('k');
  if (!word.starts_with('m') || n == std::string_view::npos || k == std::string_view::npos || k < n) return false;
  const std::string_view parts[] = {word.substr(1, n - 1), word.substr(n + 1, k - n - 1), word.substr(k + 1)};
  if (!std::all_of(std::begin(parts), std::end(parts), is_number)) return false;
  shape = {number(parts[0]), number(parts[1]), number(parts[2])};
  return true;
}

Arithmetic of_tensor_core(const std::vector<std::string_view>& words) {
  if (words.size() < 2 || words[1] == "load" || words[1] == "store") return {};
  Shape shape;
  const auto has_shape = [&](std::string_view word) { return read_shape(word, shape); };
  if (std::none_of(words.begin() + 1, words.end(), has_shape)) return {};
  std::vector<std::string_view> types;
  std::copy_if(words.begin() + 1, words.end(), std::back_inserter(types), is_element);
  // As written: d, a, b, c; wmma of fp16 names d and c only.
  const std::string_view element = types.size() >= 4 ? types[1] : "f16";
  // Four products of 8×8×4, one per group of eight lanes: the first shape there was.
  const bool is_first = shape.m == 8 && shape.n == 8 && shape.k == 4 && element == "f16";
  return {std::string(element), 0, 2 * shape.m * shape.n * shape.k * (is_first ? 4 : 1)};
}

// wgmma.mma_async: d, a and b are named; a warp does a quarter of it.
Arithmetic of_warpgroup(const std::vector<std::string_view>& words) {
  Shape shape;
  const auto has_shape = [&](std::string_view word) { return read_shape(word, shape); };
  if (std::none_of(words.begin() + 1, words.end(), has_shape)) return {};
  std::vector<std::string_view> types;
  std::copy_if(words.begin() + 1, words.end(), std::back_inserter(types), is_element);
  if (types.size() < 3) return {};
  return {std::string(types[1]), 0, 2 * shape.m * shape.n * shape.k / 4};
}

}  // namespace

Arithmetic arithmetic_of(std::string_view opcode) {
  const std::vector<std::string_view> words = words_of(opcode);
  if (words[0] == "mma" || words[0] == "wmma") return of_tensor_core(words);
  if (words[0] == "wgmma") return of_warpgroup(words);
  const auto known = std::find_if(kOfThread.begin(), kOfThread.end(), [&](const auto& each) { return each.first == words[0]; });
  if (known == kOfThread.end() || words.size() < 2) return {};
  const std::size_t times = words.back().find('x');
  const std::string_view element = words.back().substr(0, times);
  if (element != "f32" && element != "f64" && element != "f16" && element != "bf16") return {};
  const u32 elements = times == std::string_view::npos ? 1 : number(words.back().substr(times + 1));
  return {std::string(element), known->second * elements, 0};
}

}  // namespace flashpath::observe
