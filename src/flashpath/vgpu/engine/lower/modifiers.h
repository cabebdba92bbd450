// The dotted parts of an opcode, taken one after the other; what nobody took is an error.
#pragma once

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "lower/builder.h"
#include "program/modifiers.h"

namespace flashpath::lower {

// The types of PTX, and the narrow ones that only conversions and matrices know.
inline bool is_type(std::string_view name) {
  static constexpr std::string_view kTypes[] = {
      "pred", "b1",  "b8",  "b16",  "b32",    "b64",  "b128",   "u2",    "u4",    "u8",    "u16",  "u32",
      "u64",  "s2",  "s4",  "s8",   "s16",    "s32",  "s64",    "u16x2", "s16x2", "f16",   "f16x2", "bf16",
      "bf16x2", "f32", "f64", "tf32", "e4m3",  "e5m2", "e4m3x2", "e5m2x2"};
  return std::find(std::begin(kTypes), std::end(kTypes), name) != std::end(kTypes);
}

class Modifiers {
 public:
  explicit Modifiers(const Builder& builder)
      : builder_(builder), rest_(builder.modifiers().begin(), builder.modifiers().end()) {}

  bool has(std::string_view modifier) const { return std::find(rest_.begin(), rest_.end(), modifier) != rest_.end(); }

  bool take(std::string_view modifier) {
    const auto found = std::find(rest_.begin(), rest_.end(), modifier);
    if (found == rest_.end()) return false;
    rest_.erase(found);
    return true;
  }

  // The first of these that is there; empty where none is.
  std::string_view take_one(std::initializer_list<std::string_view> choices) {
    for (const std::string_view choice : choices) {
      if (take(choice)) return choice;
    }
    return {};
  }

  // The type stands last.
  std::string take_type() {
    if (rest_.empty()) builder_.refuse("vgpu.ptx.type-missing");
    std::string type(rest_.back());
    if (!is_type(type)) {
      builder_.refuse_part(type);
    }
    rest_.pop_back();
    return type;
  }

  // .rn .rz .rm .rp .ftz .sat as the flags of program/modifiers.h.
  u32 take_float_flags() {
    u32 flags = program::kRoundNearest;
    const std::string_view rounding = take_one({"rn", "rz", "rm", "rp"});  // a second one stays, and is refused
    if (rounding == "rz") flags = program::kRoundZero;
    if (rounding == "rm") flags = program::kRoundDown;
    if (rounding == "rp") flags = program::kRoundUp;
    if (take("ftz")) flags |= program::kFlushToZero;
    if (take("sat")) flags |= program::kSaturate;
    return flags;
  }

  // Who must see an access and when, as flags of Instruction::order. A block is alone in its cluster.
  u8 take_order() {
    static constexpr std::string_view kStrongNames[] = {"volatile", "relaxed", "acquire", "release",
                                                        "acq_rel",  "mmio",    "cv"};
    u8 order = 0;
    for (const std::string_view name : kStrongNames) {
      if (has(name)) order |= kStrong;
    }
    if (has("acquire") || has("acq_rel")) order |= kAcquire;
    if (has("release") || has("acq_rel")) order |= kRelease;
    if (order != 0 && !has("cta") && !has("cluster")) order |= kWideScope;
    take_all({"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "weak", "cta", "cluster", "gpu", "sys"});
    return order;
  }

  // Where to keep what is loaded: nothing that can be noticed.
  void drop_hints() {
    std::erase_if(rest_, [](std::string_view m) {
      static constexpr std::string_view kHints[] = {
          "ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "unified"};
      return std::find(std::begin(kHints), std::end(kHints), m) != std::end(kHints) || m.starts_with("L1::") ||
             m.starts_with("L2::");
    });
  }

  // Takes all that are among these; what is not stays.
  void take_all(std::initializer_list<std::string_view> known) {
    std::erase_if(rest_, [&](std::string_view m) { return std::find(known.begin(), known.end(), m) != known.end(); });
  }

  const std::vector<std::string_view>& rest() const { return rest_; }
  void all_taken() const {
    if (!rest_.empty()) {
      builder_.refuse_part(rest_.front());
    }
  }

 private:
  const Builder& builder_;
  std::vector<std::string_view> rest_;
};

// "u32" → 4 bytes; 0 for pred.
inline u32 width_of_type(std::string_view type) {
  if (type == "pred") return 0;
  if (type.ends_with("x2")) return type.starts_with("e") ? 2 : 4;  // two of eight bits, or of sixteen
  const std::size_t digits = type.find_first_of("0123456789");
  if (digits == std::string_view::npos) return 4;
  u32 bits = 0;
  std::from_chars(type.data() + digits, type.data() + type.size(), bits);
  return bits / 8;
}

inline bool is_float(std::string_view type) {
  return type.starts_with("f") || type.starts_with("bf") || type.starts_with("tf");
}

}  // namespace flashpath::lower
