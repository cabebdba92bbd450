// Which lane a shuffle reads.
#pragma once

#include "program/types.h"

namespace flashpath::exec {

enum class Shuffle { kUp, kDown, kButterfly, kIndex };

struct ShuffleSource {
  int lane;
  bool inside;  // of the segment; else the lane keeps its own value
};

// c holds the clamp in its low five bits and the segment mask above them, as PTX packs them.
inline ShuffleSource shuffle_source(Shuffle mode, int lane, u32 b, u32 c) {
  const int distance = static_cast<int>(b & 31);
  const int segment = static_cast<int>((c >> 8) & 31);
  const int clamp = static_cast<int>(c & 31);
  const int first = lane & segment;
  const int last = first | (clamp & ~segment);
  switch (mode) {
    case Shuffle::kUp: return {lane - distance, lane - distance >= last};
    case Shuffle::kDown: return {lane + distance, lane + distance <= last};
    case Shuffle::kButterfly: return {lane ^ distance, (lane ^ distance) <= last};
    default: return {first | (distance & ~segment), (first | (distance & ~segment)) <= last};
  }
}

}  // namespace flashpath::exec
