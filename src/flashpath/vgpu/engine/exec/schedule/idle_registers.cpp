#include "exec/schedule/idle_registers.h"

#include <algorithm>
#include <set>

namespace flashpath::exec {
namespace {

constexpr u32 kWidest = 16 * kLanes;  // bytes of a register

template <class F>
void for_sources(const Instruction& i, F&& f) {
  for (const auto* operands : {i.a, i.b, i.c}) {
    for (int k = 0; k < 4; ++k) {
      if (operands[k] != kNoRegister) f(operands[k]);
    }
  }
}

// Results, and what carries from one sum to the next, which stands among the sources.
template <class F>
void for_results(const Instruction& i, F&& f) {
  for (const auto* operands : {i.dst, i.c}) {
    for (int k = 0; k < 4; ++k) {
      if (operands[k] != kNoRegister) f(operands[k]);
    }
  }
}

// Whether an instruction does nothing but compute its results from its sources.
bool only_computes(const Program& program, const Instruction& i) {
  if (i.kind != Kind::kStraight || i.effect != Effect::kNone) return false;
  const std::string& operation = program.origins[i.index].operation;
  return operation.find("mma") == std::string::npos && operation.find("matrix") == std::string::npos;  // more registers
}

}  // namespace

void Path::clear() {
  for (const Instruction* each : all_) is_on_[each->index] = false;
  all_.clear();
}

std::vector<u32> Path::written_registers() const {
  std::set<u32> written;
  for (const Instruction* each : all_) for_results(*each, [&](u32 place) { written.insert(place); });
  return {written.begin(), written.end()};
}

bool Path::is_idle_difference(const WarpSnapshot& before, const Warp& now) const {
  const auto has_hidden = [&](const Instruction* i) {
    return i->kind == Kind::kStraight && i->effect == Effect::kNone && !only_computes(program_, *i);
  };
  if (std::any_of(all_.begin(), all_.end(), has_hidden)) return false;
  const std::vector<u32> written = written_registers();
  std::set<u32> idle;
  for (std::size_t k = 0; k < written.size(); ++k) {
    const u32 end = std::min(k + 1 < written.size() ? written[k + 1] : program_.register_bytes, written[k] + kWidest);
    if (before.has_other_register(now, written[k], std::min(end, program_.register_bytes))) idle.insert(written[k]);
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (const Instruction* i : all_) {
      if (i->guard != kNoRegister && idle.contains(i->guard)) return false;
      bool is_touched = false;
      for_sources(*i, [&](u32 place) { is_touched |= idle.contains(place); });
      if (!is_touched) continue;
      if (!only_computes(program_, *i)) return false;
      for_results(*i, [&](u32 place) { grows |= idle.insert(place).second; });
    }
  }
  return true;
}

}  // namespace flashpath::exec
