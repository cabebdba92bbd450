// What memory accesses cost, counted by the rules of the hardware.
//
// The rules are those that an H200's counters follow, access for access (tests/vgpu/memory/h200_counts.json).
// Global memory: a request touches 32-byte sectors, each counted once; of atomics, as often as one of its
// addresses is hit. Shared memory: a pass serves each of 32 banks once, and any lanes that read one word of it
// together. Wide accesses go in parts of 128 bytes: half a warp of 8-byte lanes, a quarter of 16-byte ones.
// Two parts of a load go as one where each lane's address is also its neighbour's, or its next but one's.
// The matrices of ldmatrix are served one by one. Atomics have no lanes that share a pass over a bank. Local
// memory: the same word of 32 lanes lies in a row.
#pragma once

#include "exec/memory/addresses.h"

namespace flashpath::exec {

// A full warp's row or single address, in its own space.
void count_whole(Warp& warp, const Instruction& i, Where where, Shape shape, u64 first, u32 size, Use use);
// Lanes at offsets of shared memory, or of one array; `low` and `high` are the least and the greatest. Lanes that
// do not execute have the offset of one that does.
void count_near(Warp& warp, const Instruction& i, const u32* offset, u32 low, u32 high, u32 size, Use use);
void count_near(Warp& warp, const Instruction& i, const Segment& segment, const u32* offset, u32 low, u32 high,
                u32 size, Use use);
// Lanes that lie anyhow; those not in `executing` have the address of one that is.
void count_scattered(Warp& warp, const Instruction& i, Where where, const u64* address, u32 executing, u32 size,
                     Use use);

// A copy beside the warps: what it moves from global memory, or to there.
void count_bulk(Warp& warp, const Instruction& i, const BulkCopy& copy, bool stores);

}  // namespace flashpath::exec
