// A program that is asked to end (SIGTERM) while a kernel runs tells first where its threads are.
#pragma once

#include "machine/launch.h"

namespace flashpath::runtime {

// Unless the program handles the signal itself. `parent`: who started it, without whom it does not go on; 0: nobody.
void watch_signals(int parent);

// Around the run of a kernel: lets it end when the program is asked to.
class EndsWhenAsked {
 public:
  explicit EndsWhenAsked(machine::Launch& launch);
  // Ends the program, where it was asked to.
  ~EndsWhenAsked();
  EndsWhenAsked(const EndsWhenAsked&) = delete;
};

}  // namespace flashpath::runtime
