// Sets of bytes, as ranges of addresses: what is initialised, what a launch has read and written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "program/types.h"

namespace flashpath::observe {

// From `begin` up to, and without, `end`.
struct Range {
  u64 begin = 0;
  u64 end = 0;

  bool operator==(const Range&) const = default;
};

class Ranges {
 public:
  void add(Range added) {
    if (added.begin >= added.end) return;
    if (all_.empty() || all_.rbegin()->second < added.begin) {  // the usual case: they come in order
      all_.emplace_hint(all_.end(), added.begin, added.end);
      return;
    }
    auto next = all_.upper_bound(added.begin);
    if (next != all_.begin() && std::prev(next)->second >= added.begin) --next;  // they meet: one grows
    while (next != all_.end() && next->first <= added.end) {
      added = {std::min(added.begin, next->first), std::max(added.end, next->second)};
      next = all_.erase(next);
    }
    all_.emplace_hint(next, added.begin, added.end);
  }

  // What another set has of a range.
  void add(const Ranges& other, Range within) {
    const auto first = other.first_that_ends_after(within.begin);
    const auto last = other.all_.lower_bound(within.end);
    const auto part = [&](const auto& each) {
      return Range{std::max(within.begin, each.first), std::min(within.end, each.second)};
    };
    // A few are looked up one by one. Many, both sets are gone through once.
    constexpr std::size_t kFew = 16;
    const std::size_t many = all_.size() / kFew + 1;
    std::size_t count = 0;
    for (auto each = first; each != last && count <= many; ++each) ++count;
    if (count <= many) {
      for (auto each = first; each != last; ++each) add(part(*each));
      return;
    }
    Ranges both;
    auto own = all_.begin();
    for (auto each = first; each != last; ++each) {
      const Range next = part(*each);
      for (; own != all_.end() && own->first < next.begin; ++own) both.append({own->first, own->second});
      both.append(next);
    }
    for (; own != all_.end(); ++own) both.append({own->first, own->second});
    all_ = std::move(both.all_);
  }

  void remove(Range removed) {
    if (removed.begin >= removed.end) return;
    auto next = first_that_ends_after(removed.begin);
    while (next != all_.end() && next->first < removed.end) {
      const Range cut{next->first, next->second};
      next = all_.erase(next);
      if (cut.begin < removed.begin) all_.emplace_hint(next, cut.begin, removed.begin);
      if (cut.end > removed.end) all_.emplace_hint(next, removed.end, cut.end);
    }
  }

  // The first part of `range` that is in the set.
  std::optional<Range> overlap(Range range) const {
    const auto found = first_that_ends_after(range.begin);
    if (found == all_.end() || found->first >= range.end) return std::nullopt;
    return Range{std::max(range.begin, found->first), std::min(range.end, found->second)};
  }
  // The first bytes that are in both sets.
  std::optional<Range> overlap(const Ranges& other) const {
    const Ranges& fewer = other.all_.size() < all_.size() ? other : *this;
    const Ranges& more = &fewer == this ? other : *this;
    for (const auto& [begin, end] : fewer.all_) {
      if (const std::optional<Range> both = more.overlap(Range{begin, end})) return both;
    }
    return std::nullopt;
  }

  // f(part), for all parts of `range` that are in the set, in order.
  template <class F>
  void for_parts(Range range, F&& f) const {
    for (auto each = first_that_ends_after(range.begin); each != all_.end() && each->first < range.end; ++each) {
      f(Range{std::max(range.begin, each->first), std::min(range.end, each->second)});
    }
  }
  // Whether all of `range` is in the set.
  bool holds(Range range) const { return range.begin >= range.end || overlap(range) == range; }

  bool empty() const { return all_.empty(); }
  void clear() { all_.clear(); }
  // In order, apart from each other: begin → end.
  const std::map<u64, u64>& all() const { return all_; }

 private:
  // A range that begins after all others have.
  void append(Range added) {
    if (!all_.empty() && all_.rbegin()->second >= added.begin) {
      u64& end = all_.rbegin()->second;
      end = std::max(end, added.end);
    } else {
      all_.emplace_hint(all_.end(), added.begin, added.end);
    }
  }

  std::map<u64, u64>::const_iterator first_that_ends_after(u64 address) const {
    auto next = all_.upper_bound(address);
    if (next != all_.begin() && std::prev(next)->second > address) --next;
    return next;
  }

  std::map<u64, u64> all_;
};

// What a launch has touched of global memory, to the byte. What is written may have been read, too.
struct AccessedBytes {
  Ranges read;
  Ranges written;
  // By atomics, volatile accesses and the like, where these came last: such may meet others of theirs.
  Ranges strong;       // written
  Ranges strong_read;
};

}  // namespace flashpath::observe
