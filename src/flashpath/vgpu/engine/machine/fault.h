// What stops a launch: said once, with where it happened.
#pragma once

#include <stdexcept>
#include <string>

#include "messages/message.h"
#include "program/types.h"

namespace flashpath::machine {

struct Fault : std::runtime_error {
  Fault(std::string kind, Message message, u32 instruction)
      : std::runtime_error(message.code), kind(std::move(kind)), message(std::move(message)), instruction(instruction) {}

  std::string kind;  // of the findings' kinds: "out-of-bounds", "misaligned", …
  Message message;
  u32 instruction;   // in the program
  bool is_beyond_window = false;  // of shared memory: so far that hardware takes it for no access to it at all
  u32 block[3] = {0, 0, 0};
  u32 thread[3] = {0, 0, 0};
};

}  // namespace flashpath::machine
