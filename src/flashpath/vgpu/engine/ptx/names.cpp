#include "ptx/names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>

namespace flashpath::ptx {
namespace {

constexpr std::array<std::string_view, 43> kSpecialRegisters = {
    "%tid", "%ntid", "%laneid", "%warpid", "%nwarpid", "%ctaid", "%nctaid", "%smid", "%nsmid", "%gridid",
    "%is_explicit_cluster", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
    "%cluster_ctarank", "%cluster_nctarank", "%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge",
    "%lanemask_gt", "%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi",
    "%reserved_smem_offset_begin", "%reserved_smem_offset_end", "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0", "%reserved_smem_offset_1", "%total_smem_size", "%aggr_smem_size",
    "%dynamic_smem_size", "%current_graph_exec", "%pm0", "%pm0_64", "%pm1", "%pm1_64", "%pm2", "%pm2_64",
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number as the members of a range have it: no leading zero, and fitting.
std::optional<uint32_t> member_number(std::string_view digits) {
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

size_t start_of_digits(std::string_view name) {
  size_t start = name.size();
  while (start > 1 && is_digit(name[start - 1])) --start;
  return start;
}

bool has_number_below(std::string_view name, std::string_view stem, uint32_t count) {
  if (!name.starts_with(stem)) return false;
  const auto number = member_number(name.substr(stem.size()));
  return number && *number < count;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

bool is_special_register(std::string_view name) {
  if (std::find(kSpecialRegisters.begin(), kSpecialRegisters.end(), name) != kSpecialRegisters.end()) return true;
  if (has_number_below(name, "%envreg", 32)) return true;
  if (name.ends_with("_64")) name.remove_suffix(3);
  return has_number_below(name, "%pm", 8);
}

std::vector<std::string_view> special_registers() { return {kSpecialRegisters.begin(), kSpecialRegisters.end()}; }

std::optional<std::string> nearest(std::string_view name, const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongest = 80;  // the distance costs the product of the lengths
  if (name.size() > kLongest) return std::nullopt;
  size_t best = 1 + std::min<size_t>(3, name.size() / 3);
  std::optional<std::string> found;
  for (std::string_view candidate : candidates) {
    const size_t gap = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (candidate.size() > kLongest || gap >= best || candidate == name) continue;  // the same: out of scope
    const size_t distance = edit_distance(name, candidate);
    // The first in the alphabet among equals: the order of a hash table is no order.
    if (distance < best || (found && distance == best && candidate < *found)) {
      best = distance;
      found = candidate;
    }
  }
  return found;
}

void Registers::open() {
  singles_.open();
  ranges_.open();
}

void Registers::close() {
  singles_.close();
  ranges_.close();
}

bool Registers::declare(std::string_view name, Type type, uint8_t width) {
  const auto in_range = find_in_range(name);
  if (in_range && in_range->depth == singles_.depth()) return false;
  const auto id = static_cast<uint32_t>(declarations_.size());
  if (!singles_.declare(name, id)) return false;
  declarations_.push_back({name, 0, type, width, kNone, kNone, singles_.depth()});
  return true;
}

bool Registers::declare_range(std::string_view stem, uint32_t count, Type type, uint8_t width) {
  const auto id = static_cast<uint32_t>(declarations_.size());
  const auto* outer = ranges_.find(stem);
  const uint32_t outer_id = outer ? outer->value : kNone;
  if (!ranges_.declare(stem, id)) return false;
  declarations_.push_back({stem, count, type, width, kNone, outer_id, ranges_.depth()});
  digit_stems_ = digit_stems_ || is_digit(stem.back());
  return true;
}

std::optional<Registers::Found> Registers::find_in_range(std::string_view name) const {
  std::optional<Found> best;
  for (size_t split = start_of_digits(name); split < name.size(); ++split) {
    const auto* entry = ranges_.find(name.substr(0, split));
    const auto number = entry ? member_number(name.substr(split)) : std::nullopt;
    for (uint32_t id = number ? entry->value : kNone; id != kNone; id = declarations_[id].outer) {
      const Declaration& range = declarations_[id];
      if (*number >= range.count) continue;
      if (!best || range.depth > best->depth) best = {id, *number, range.depth};
      break;
    }
    if (!digit_stems_) break;
  }
  return best;
}

std::optional<Registers::Found> Registers::find(std::string_view name) const {
  const auto in_range = find_in_range(name);
  const auto* single = singles_.find(name);
  if (single && (!in_range || single->depth >= in_range->depth)) return Found{single->value, kNone, single->depth};
  return in_range;
}

uint32_t Registers::use(const Found& found, std::vector<Register>& registers) {
  Declaration& declaration = declarations_[found.declaration];
  const auto next = static_cast<uint32_t>(registers.size());
  uint32_t* index = &declaration.index;
  if (found.number != kNone) {
    index = &numbered_.try_emplace(uint64_t{found.declaration} << 32 | found.number, kNone).first->second;
  }
  if (*index == kNone) {
    *index = next;
    registers.push_back({declaration.stem, found.number, declaration.type, declaration.width});
  }
  return *index;
}

std::optional<std::string> Registers::range_passed(std::string_view name) const {
  const size_t split = start_of_digits(name);
  const auto* entry = ranges_.find(name.substr(0, split));
  if (split == name.size() || !entry) return std::nullopt;
  const std::string stem(name.substr(0, split));
  return stem + "<" + std::to_string(declarations_[entry->value].count) + ">";
}

std::vector<std::string> Registers::like(std::string_view name) const {
  std::vector<std::string> names;
  for (const auto& each : singles_.entries()) names.emplace_back(each.first);
  const std::string_view digits = name.substr(start_of_digits(name));
  const auto number = member_number(digits);
  for (const auto& [stem, entry] : ranges_.entries()) {
    if (!number || *number >= declarations_[entry.value].count) continue;
    names.emplace_back(stem);
    names.back() += digits;
  }
  return names;
}

}  // namespace flashpath::ptx
