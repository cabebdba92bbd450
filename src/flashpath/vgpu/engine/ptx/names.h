// The names of a function, with the scopes that braces make: what a name in an operand stands for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/ast.h"

namespace flashpath::ptx {

// A map whose entries end with the scope they were declared in and uncover what they hid.
template <class T>
class ScopedMap {
 public:
  struct Entry {
    T value;
    uint32_t depth;
  };

  void open() { marks_.push_back(hidden_.size()); }

  void close() {
    for (; hidden_.size() > marks_.back(); hidden_.pop_back()) {
      auto& [name, before] = hidden_.back();
      if (before) {
        entries_.insert_or_assign(name, *before);
      } else {
        entries_.erase(name);
      }
    }
    marks_.pop_back();
  }

  uint32_t depth() const { return static_cast<uint32_t>(marks_.size()); }

  // False where the innermost scope has that name already.
  bool declare(std::string_view name, T value) {
    const auto [place, added] = entries_.try_emplace(name, Entry{value, depth()});
    if (!added && place->second.depth == depth()) return false;
    hidden_.emplace_back(name, added ? std::nullopt : std::optional<Entry>(place->second));
    place->second = Entry{value, depth()};
    return true;
  }

  const Entry* find(std::string_view name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
  }

  const std::unordered_map<std::string_view, Entry>& entries() const { return entries_; }

 private:
  std::unordered_map<std::string_view, Entry> entries_;
  std::vector<std::pair<std::string_view, std::optional<Entry>>> hidden_;
  std::vector<size_t> marks_;
};

// Registers get their index when first used: `%r<1000000000>` costs nothing.
class Registers {
 public:
  void open();
  void close();
  // Both are false where the scope has the name already.
  bool declare(std::string_view name, Type type, uint8_t width);
  bool declare_range(std::string_view stem, uint32_t count, Type type, uint8_t width);

  struct Found {
    uint32_t declaration;
    uint32_t number;  // kNone: declared by itself
    uint32_t depth;
  };
  std::optional<Found> find(std::string_view name) const;
  // The register's index in `registers`, where it is added at its first use.
  uint32_t use(const Found& found, std::vector<Register>& registers);
  // What a name like this one may have meant, for an error message: names in scope, or the range it passes.
  std::vector<std::string> like(std::string_view name) const;
  std::optional<std::string> range_passed(std::string_view name) const;

 private:
  struct Declaration {
    std::string_view stem;
    uint32_t count;  // 0: a single register
    Type type;
    uint8_t width;
    uint32_t index;  // of a single register that is used
    uint32_t outer;  // the range of the same stem in a scope around, whose higher numbers stay visible
    uint32_t depth;
  };
  std::optional<Found> find_in_range(std::string_view name) const;

  std::vector<Declaration> declarations_;
  ScopedMap<uint32_t> singles_;
  ScopedMap<uint32_t> ranges_;  // by stem
  std::unordered_map<uint64_t, uint32_t> numbered_;  // declaration and number → index
  bool digit_stems_ = false;  // some stem ends in a digit, so that %r12 may be %r1's 2
};

bool is_special_register(std::string_view name);
std::vector<std::string_view> special_registers();

// The candidate that a slip of the keyboard makes of `name`, if there is one.
std::optional<std::string> nearest(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace flashpath::ptx
