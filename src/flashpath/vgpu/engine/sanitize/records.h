// Who touched a piece of memory: a record of 32 bits.
//
// A warp's time is cut into epochs: a new one begins whenever one of its threads lets others know what it has done.
// Epochs are numbered in the order they begin, over all warps of the launch, so that a number alone tells the warp
// (Epochs::owner) and can be compared with what a thread knows ("all of my block up to epoch n").
#pragma once

#include <vector>

#include "program/types.h"

namespace flashpath::sanitize {

using Epoch = u32;
using Record = u32;  // epoch · pending · lane

inline constexpr u32 kWhoBits = 6;
inline constexpr u32 kLaneMask = 31;
inline constexpr u32 kPending = 32;  // an asynchronous copy that its thread has not waited for
inline constexpr Epoch kMostEpochs = 1u << (32 - kWhoBits);

inline constexpr Record kUntouched = 0;  // since the launch began
inline constexpr Record kFresh = 1;      // given by malloc, and written by nobody since
inline constexpr Epoch kForgotten = 1;   // of records from before the epochs ran out: earlier than all others
inline constexpr Epoch kFirstEpoch = 2;

inline constexpr Record record_of(Epoch epoch, u32 lane) { return epoch << kWhoBits | lane; }
inline constexpr Epoch epoch_of(Record record) { return record >> kWhoBits; }
inline constexpr u32 lane_of(Record record) { return record & kLaneMask; }
inline constexpr bool is_pending(Record record) { return (record & kPending) != 0; }

struct Owner {
  u32 block = 0;  // its number in the grid
  u32 warp = 0;   // its index in the block; from kMostWarps on, of a group of four that multiplies matrices
};
inline constexpr u32 kMostWarps = 32;

class Epochs {
 public:
  Epochs() : owners_(kFirstEpoch) {}

  Epoch begin(Owner owner) {
    owners_.push_back(owner);
    return latest();
  }
  Epoch latest() const { return static_cast<Epoch>(owners_.size() - 1); }
  const Owner& owner(Epoch epoch) const { return owners_[epoch]; }
  bool are_spent() const { return owners_.size() >= kMostEpochs; }
  void forget() { owners_.resize(kFirstEpoch); }

 private:
  std::vector<Owner> owners_;
};

}  // namespace flashpath::sanitize
