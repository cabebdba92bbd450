// Looks for misuse of barriers and member masks, in sanitised launches. The launch goes on as well as it can.
//
// PTX has all living lanes of a warp come to an aligned barrier, and all that a member mask names to the operation;
// lanes that have ended do not count. A lane that is elsewhere when others come to a barrier may still come. It has
// passed by when it runs code that follows, and ends; or, where threads end only at the kernel's last line, when it
// ends at all.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/diagnosis/paths.h"
#include "exec/rooms.h"
#include "machine/block.h"
#include "messages/message.h"

namespace flashpath::exec {

class Misuse {
 public:
  explicit Misuse(Launch& launch);

  void forget(const Block& block);  // another one begins in its place

  // Before the lanes that execute arrive at a barrier.
  void comes_to_barrier(Warp& warp, const Instruction& i);
  // The threads of a barrier are about to be let go.
  void leaves_barrier(Block& block, const Barrier& barrier, u32 number);
  // Lanes execute a warp-wide operation, all with that member mask; `here`: those that came with them.
  void operates(Warp& warp, const Instruction& i, u32 group, u32 members, u32 here);
  // The active lanes begin a basic block, while others of their warp wait.
  void goes_on(Warp& warp);
  void ends(Warp& warp, u32 lanes);

 private:
  // Lanes that are awaited at a barrier and were elsewhere when others of their warp came there.
  struct Awaited {
    u32 instruction;
    int witness;  // a lane that came
    u32 lanes;
    u32 passed = 0;  // those of them that have run what follows
    u32 passed_at = 0;
  };

  void await(Warp& warp, Awaited awaited);
  void came(Warp& warp, u32 instruction, u32 lanes);
  void note(const Awaited& awaited, Warp& warp, u32 lanes, const char* code);
  void add(const Warp& warp, u32 instruction, int lane, const char* kind, const Message& message);
  void add(const Warp& warp, u32 instruction, int lane, const char* kind, const Message& message,
           const Warp& other, u32 other_instruction, int other_lane);
  bool is_new(u32 instruction);
  void check_sources(Warp& warp, const Instruction& i, u32 group, u32 members);

  Launch& launch_;
  Paths paths_;
  std::map<const Warp*, std::vector<Awaited>> awaited_;
  std::set<std::pair<u32, u32>> told_;  // places of misused barriers
};

}  // namespace flashpath::exec
