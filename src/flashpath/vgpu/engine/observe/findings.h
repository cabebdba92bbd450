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

#include "exec/types.h"

namespace flashpath::observe {

// A thread at an instruction, and what it did there.
struct Party {
  u32 instruction = 0;
  std::array<u32, 3> block{};
  std::array<u32, 3> thread{};
  std::string action;  // "read", "write", "atomic"; empty where nothing needs to be said
};

struct Finding {
  std::string kind;  // one of flashpath.vgpu.findings.Kind
  std::string message;
  Party at;
  std::optional<Party> other;  // of a race
  u64 count = 1;               // how often it was met
};

class Findings {
 public:
  // The same kind at the same instructions is one finding, however many threads meet it; the first is told.
  void add(Finding finding) {
    const u32 other = finding.other ? finding.other->instruction : ~0u;
    const auto [place, is_new] = known_.try_emplace({finding.kind, finding.at.instruction, other}, all_.size());
    if (!is_new) {
      ++all_[place->second].count;
    } else {
      all_.push_back(std::move(finding));
    }
  }
  const std::vector<Finding>& all() const { return all_; }

 private:
  std::vector<Finding> all_;
  std::map<std::tuple<std::string, u32, u32>, std::size_t> known_;
};

}  // namespace flashpath::observe
