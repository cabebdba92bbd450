// A piece of a device's work: a kernel, a copy, a fill, a function of the host, or a mark that an event leaves.
//
// It is done as late as CUDA allows: when the host waits for it, or for something that comes after it. A program that
// reads a result without waiting for it finds the old one, every time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ground/accesses.h"
#include "ground/call_site.h"

namespace flashpath::runtime {

// What of a GPU an operation keeps busy.
enum class Unit : std::uint8_t { kNone, kCopyToDevice, kCopyToHost, kMultiprocessors };

struct Operation;
using OperationRef = std::shared_ptr<Operation>;
using Clock = std::map<std::uint64_t, std::uint64_t>;  // chain → number: see checks/order.h

struct Operation {
  std::string name;   // for people
  const char* kind = "";  // "kernel", "copy", "fill", "host function", "event"
  std::uint64_t stream = 0;  // its number
  int device = 0;
  Unit unit = Unit::kNone;
  std::function<void(Operation&)> work;  // sets `seconds`, and `share` where it can
  double seconds = 0;  // it takes at least, on the GPU that is played
  double share = 1;    // of the multiprocessors that it can fill
  std::uint64_t bytes = 0;

  std::uint64_t number = 0;  // in the order in which the host asked for them
  std::vector<OperationRef> after;  // what must be done before; empty once this is done
  bool done = false;
  bool was_asked_about = false;  // by a query, which was told that it is not ready
  double asked = 0;  // when, on the clock of the model
  double begin = 0;
  double end = 0;

  // Where the program is checked:
  CallSiteRef site;                     // of the call that asked for it
  std::shared_ptr<Accesses> accesses;
  std::uint64_t chain = 0;              // of operations that follow each other; 0: its stream's
  std::uint64_t everything_before = 0;  // all operations up to this number come before it,
  Clock clock;                          // and so do these
};

}  // namespace flashpath::runtime
