// What a sanitised launch found wrong, in the order it was met, each thing once.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "machine/fault.h"
#include "messages/message.h"
#include "program/types.h"

namespace flashpath {
struct Program;
}

namespace flashpath::observe {

// A thread at an instruction, and what it did there.
struct Party {
  u32 instruction = 0;
  std::array<u32, 3> block{};
  std::array<u32, 3> thread{};
  std::string action;  // "read", "write", "atomic"; empty where nothing needs to be said
};

// Memory of the heap that a thread of a launch has got.
struct OpenAllocation {
  const Program* program = nullptr;
  u64 size = 0;
  Party at;
};

struct Finding {
  std::string kind;  // one of flashpath.vgpu.findings.Kind
  Message message;
  Party at;
  std::optional<Party> other;  // of a race
  u64 count = 1;               // how often it was met
};

class Findings {
 public:
  static constexpr std::size_t kMost = 1000;
  static constexpr u32 kNobody = ~0u;

  // What is known already, and counted once more: what need not be told.
  Finding* count_again(const std::string& kind, u32 instruction, u32 other) {
    const auto found = known_.find({kind, instruction, other});
    if (found == known_.end()) return nullptr;
    ++all_[found->second].count;
    return &all_[found->second];
  }
  // The same kind at the same instructions is one finding, however many threads meet it; the first is told.
  void add(Finding finding) {
    const u32 other = finding.other ? finding.other->instruction : kNobody;
    if (count_again(finding.kind, finding.at.instruction, other) != nullptr || all_.size() >= kMost) return;
    known_[{finding.kind, finding.at.instruction, other}] = all_.size();
    all_.push_back(std::move(finding));
  }
  const std::vector<Finding>& all() const { return all_; }
  // What would have ended a launch that is not sanitised, if anything would: the first such thing that was met.
  const std::optional<machine::Fault>& fault() const { return fault_; }
  void add_fault(const machine::Fault& fault) {
    if (!fault_) fault_ = fault;
  }
  // Takes back what turns out to follow from something else; after the launch. `follows` may change what stays.
  template <class Predicate>
  void take_back(Predicate&& follows) {
    std::vector<Finding> kept;
    for (Finding& each : all_) {
      if (!follows(each)) kept.push_back(std::move(each));
    }
    all_ = std::move(kept);
    known_.clear();
  }

 private:
  std::vector<Finding> all_;
  std::optional<machine::Fault> fault_;
  std::map<std::tuple<std::string, u32, u32>, std::size_t> known_;
};

}  // namespace flashpath::observe
