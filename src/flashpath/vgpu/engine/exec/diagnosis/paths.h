// What code follows an instruction, and what threads cannot avoid: asked about threads that did not come where others
// wait for them. Ways back to the start of a loop are left out: what comes after is what comes in the same round.
//
// A thread that ends early is none that passes by. But compilers merge the last store of its way with that of the
// others, so a common end that only stores may be either. It counts for warp-wide operations; for barriers only
// what reads, synchronises, or follows the barrier at once. Who knows the source knows more (Launch::runs_to_end).
#pragma once

#include <map>
#include <vector>

#include "program/program.h"

namespace flashpath::exec {

class Paths {
 public:
  explicit Paths(const Program& program) : program_(program) {}

  // By instruction: whether it follows that one, in a basic block that counts.
  const std::vector<bool>& after(u32 instruction);
  // Whether a thread can end without coming to an instruction of the kernel, or to one that follows it.
  bool can_avoid(u32 instruction);

 private:
  struct Span {
    u32 first;
    u32 last;
  };
  Span block_of(u32 instruction) const;
  std::vector<u32> successors(Span block) const;
  bool counts(Span block, const Instruction& from) const;

  const Program& program_;
  std::map<u32, std::vector<bool>> after_;
  std::map<u32, bool> can_avoid_;
};

}  // namespace flashpath::exec
