// The flags that `Instruction::modifier` holds for bulk copies, and where their operands stand.
//
// Registers are in Program::operand_pool, from Instruction::target on: the coordinates of a tensor, then the offsets of
// im2col. a: shared memory, global memory or the tensor map, the barrier, the number of bytes; b[0]: the blocks of a multicast.
#pragma once

#include "program/types.h"

namespace flashpath::program {

inline constexpr u32 kBulkRankMask = 7;        // coordinates; 0: no tensor
inline constexpr u32 kBulkOffsetsShift = 3;    // offsets of im2col, in two bits
inline constexpr u32 kBulkIm2col = 32;
inline constexpr u32 kBulkToShared = 64;       // from global memory; else from shared memory to global
inline constexpr u32 kBulkBetweenBlocks = 128;  // from shared memory to that of a block of the cluster
inline constexpr u32 kBulkPrefetch = 256;      // nothing is moved
inline constexpr u32 kBulkJoinShift = 9;       // a BulkJoin, in four bits
inline constexpr u32 kBulkTypeShift = 13;      // a TensorType, in four bits, where no map has it

enum class BulkJoin : u32 { kNone, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

}  // namespace flashpath::program
