// Which bytes of device memory somebody has written: what cudaMalloc gives has no meaning until then.
#pragma once

#include <cstdint>
#include <map>

#include "observe/ranges.h"

namespace flashpath::runtime {

class Initialised {
 public:
  // Memory that was just allocated, and that is freed.
  void begin(observe::Range allocation);
  void end(std::uint64_t address) { open_.erase(address); }

  void write(observe::Range range);
  void write(const observe::Ranges& ranges);
  // What was not written at `from` is not written at `to` either, which is in `allocation`.
  void copy(observe::Range to, std::uint64_t from, observe::Range allocation);

  // Of an allocation, by its first address; nullptr: all of it is. As long as nothing here changes.
  const observe::Ranges* of(std::uint64_t address) const;
  // Whether all of all allocations is: most programs write their memory once, and nothing is to be looked up then.
  bool is_everything() const { return open_.empty(); }

 private:
  // Of an allocation that is not all written yet.
  struct Open {
    std::uint64_t end = 0;
    observe::Ranges written;
  };
  using Place = std::map<std::uint64_t, Open>::iterator;

  Place find(std::uint64_t address);
  Place close_if_all(Place place);

  std::map<std::uint64_t, Open> open_;  // by the first address
};

}  // namespace flashpath::runtime
