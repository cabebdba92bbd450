// The box of a tensor that a bulk copy moves: which bytes of global memory stand where in shared memory.
#pragma once

#include "exec/rooms.h"
#include "machine/memory.h"
#include "program/tensor_map.h"

namespace flashpath::exec {

struct Box {
  s32 at[kMostRank] = {};   // the coordinates of its first element
  s32 offsets[3] = {};      // im2col: of the pixels that are read
  bool is_im2col = false;
};

// Where the box goes to, or comes from. `address` tells which bytes a swizzle changes places of.
struct BoxPlace {
  std::byte* shared = nullptr;  // where `address` is
  u32 address = 0;              // in its block's shared memory
};

// How many bytes of shared memory it takes.
u64 bytes_of_box(const TensorMap& map, bool is_im2col);

// Adds the ranges of a copy to shared memory, or from there; what is outside of the tensor is filled, or is not stored.
// False: something is wrong with an address, which has been told.
bool add_box(Warp& warp, const Instruction& i, int lane, const TensorMap& map, const Box& box, const BoxPlace& place,
             bool loads, std::vector<BulkRange>& ranges);

}  // namespace flashpath::exec
