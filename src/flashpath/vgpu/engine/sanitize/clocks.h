// What a thread knows of the others: up to which epoch all they have done happens before what it does next.
//
// Most of it comes from barriers of a whole block or a whole warp, and is two numbers. What comes from elsewhere
// (part of a block, one thread, another block) is kept in a Clock: a sparse vector that is never changed once it is
// made, so that all threads that learn the same share one.
#pragma once

#include <utility>
#include <vector>

#include "sanitize/records.h"

namespace flashpath::sanitize {

// A block, a warp or a thread; those of a block follow each other in order.
using Party = u64;
inline constexpr u32 kPartyBits = 12;
inline Party whole_block(u32 block) { return Party(block) << kPartyBits; }
inline Party whole_warp(Owner owner) { return whole_block(owner.block) | (owner.warp + 1) << 6; }
inline Party thread_of(Owner owner, u32 lane) { return whole_warp(owner) | (lane + 1); }

class Clock {
 public:
  struct Entry {
    Party party;
    Epoch epoch;
  };
  // A clock with more entries than this is taken to know all that came before its latest one: races may be missed,
  // none is imagined.
  static constexpr std::size_t kMostEntries = 2048;

  Epoch of(Party party) const;
  const std::vector<Entry>& entries() const { return entries_; }
  Epoch everything() const { return everything_; }

 private:
  friend class ClockRef;
  friend class ClockBuilder;

  std::vector<Entry> entries_;  // sorted by party
  Epoch everything_ = 0;        // all parties up to here
  u32 references_ = 0;
};

// A shared clock; none knows nothing. Sanitised launches run on one host thread.
class ClockRef {
 public:
  ClockRef() = default;
  explicit ClockRef(Clock* clock) : clock_(clock) { keep(); }
  ClockRef(const ClockRef& other) : clock_(other.clock_) { keep(); }
  ClockRef(ClockRef&& other) noexcept : clock_(std::exchange(other.clock_, nullptr)) {}
  ClockRef& operator=(ClockRef other) noexcept {
    std::swap(clock_, other.clock_);
    return *this;
  }
  ~ClockRef() {
    if (clock_ != nullptr && --clock_->references_ == 0) delete clock_;
  }

  const Clock* operator->() const { return clock_; }
  explicit operator bool() const { return clock_ != nullptr; }
  bool operator==(const ClockRef& other) const { return clock_ == other.clock_; }

 private:
  void keep() {
    if (clock_ != nullptr) ++clock_->references_;
  }
  Clock* clock_ = nullptr;
};

// Joins what several parties know.
class ClockBuilder {
 public:
  void add(Party party, Epoch epoch) {
    if (epoch != 0) entries_.push_back({party, epoch});
  }
  void add(const ClockRef& clock);
  // Drops what is known of one block's threads: all of it is known otherwise.
  void drop_block(u32 block);
  ClockRef build();

 private:
  std::vector<Clock::Entry> entries_;
  std::vector<ClockRef> added_;
  Epoch everything_ = 0;
};

ClockRef joined(const ClockRef& a, const ClockRef& b);
// Whether b has nothing that a does not know.
bool covers(const ClockRef& a, const ClockRef& b);

// What one thread knows.
struct View {
  Epoch block = 0;  // all threads of its block, up to here
  Epoch warp = 0;   // all threads of its warp
  ClockRef beyond;  // anything else
};

}  // namespace flashpath::sanitize
