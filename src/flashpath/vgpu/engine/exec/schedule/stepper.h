// Who is asked between two instructions, where a warp is not simply run on.
#pragma once

#include "exec/rooms.h"
#include "machine/warp.h"

namespace flashpath::exec {

struct Stepper {
  virtual ~Stepper() = default;
  // After an instruction, the one that warp.executing executed; true: the warp pauses.
  virtual bool pauses(Warp& warp, const Instruction& i) = 0;
};

}  // namespace flashpath::exec
