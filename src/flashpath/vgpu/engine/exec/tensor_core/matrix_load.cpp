// ldmatrix, stmatrix and movmatrix: 8×8 matrices of 16-bit elements between shared memory and registers.
//
// A register holds one matrix, a row in each group of four lanes: in the register file, eight rows of 16 bytes
// that follow each other. Lanes 8j to 8j + 7 give the addresses of the rows of matrix j.
#include <algorithm>
#include <string>

#include "exec/memory/addresses.h"
#include "exec/memory/traffic.h"
#include "exec/operations.h"
#include "exec/tensor_core/transpose.h"
#include "exec/tensor_core/whole_warp.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

constexpr u32 kRowBytes = 16;

// Where the rows are. A generic address must be one of shared memory.
template <int kMatrices, bool kTransposed, bool kGeneric>
void find_rows(Warp& warp, const Instruction& i, bool write, std::byte** rows) {
  constexpr int kRows = 8 * kMatrices;
  u64 address[kLanes];
  read_addresses(warp, i.a[0], kGeneric, i.immediate, address);
  constexpr u32 kGiving = kRows == kLanes ? kAllLanes : (1u << kRows) - 1;  // the lanes whose addresses count
  for (int lane = 0; kGeneric && lane < kRows; ++lane) {
    if (address[lane] - kSharedWindow >= kWindowSize) {
      throw fault_at(warp, i.index, lane, "out-of-bounds", "vgpu.matrix-row-not-shared");
    }
    address[lane] -= kSharedWindow;
  }
  const u32 misaligned = check_alignment(warp, i, address, kGiving, kRowBytes);
  u32 possible = 0;
  for (int lane = 0; lane < kRows; ++lane) {
    rows[lane] = misaligned >> lane & 1 ? sanitize::nowhere(warp, lane)
                                        : shared_place(warp, i, lane, address[lane], kRowBytes, write);
    possible |= u32(!sanitize::is_nowhere(warp, rows[lane])) << lane;
  }
  if (warp.watch != nullptr) {
    if (write) {
      sanitize::watch_scattered(warp, i, Where::kShared, address, possible, kRowBytes, Use::kWrite);
    } else {
      sanitize::watch_matrix(warp, i, address, possible, kTransposed);
    }
  }
  if (warp.counters != nullptr && possible != 0) {
    u64 own[kLanes];
    keep_addresses(possible, address, own);
    count_scattered(warp, i, Where::kShared, own, possible, kRowBytes, write ? Use::kWrite : Use::kMatrixRead);
  }
}

template <int kMatrices, bool kTransposed, bool kGeneric>
void run_load(Warp& warp, const Instruction& i) {
  require_whole_warp(warp, i);
  std::byte* rows[kLanes];
  find_rows<kMatrices, kTransposed, kGeneric>(warp, i, false, rows);
  for (int j = 0; j < kMatrices; ++j) {
    std::byte* d = lanes<std::byte>(warp, i.dst[j]);
    if constexpr (kTransposed) {
      const std::byte* matrix[8];
      for (int k = 0; k < 8; ++k) matrix[k] = rows[8 * j + k];
      transpose_8x8(matrix, d);
    } else {
      for (u32 k = 0; k < 8; ++k) std::memcpy(d + k * kRowBytes, rows[8 * j + static_cast<int>(k)], kRowBytes);
    }
  }
}

template <int kMatrices, bool kTransposed, bool kGeneric>
void run_store(Warp& warp, const Instruction& i) {
  require_whole_warp(warp, i);
  std::byte* rows[kLanes];
  find_rows<kMatrices, kTransposed, kGeneric>(warp, i, true, rows);
  std::byte values[kMatrices * 8 * kRowBytes];  // by row
  for (int j = 0; j < kMatrices; ++j) {
    const std::byte* matrix = lanes<std::byte>(warp, i.c[j]);
    std::byte* const to = values + static_cast<u32>(j) * 8 * kRowBytes;
    if constexpr (kTransposed) {
      transpose_8x8(matrix, to);
    } else {
      std::memcpy(to, matrix, 8 * kRowBytes);
    }
  }
  if (sanitize::has_suspects(warp)) {
    sanitize::settle(warp, i, [&](int row, std::byte* value) {
      std::memcpy(value, values + static_cast<u32>(row) * kRowBytes, kRowBytes);
    });
  }
  for (u32 row = 0; row < 8 * kMatrices; ++row) std::memcpy(rows[row], values + row * kRowBytes, kRowBytes);
}

void run_transpose(Warp& warp, const Instruction& i) {
  require_whole_warp(warp, i);
  transpose_8x8(lanes<std::byte>(warp, i.a[0]), lanes<std::byte>(warp, i.dst[0]));
}

template <int kMatrices, bool kGeneric>
void both_orders(Registry& r) {
  const std::string name = std::string(kGeneric ? ".generic" : ".shared") + ".x" + std::to_string(kMatrices);
  r.add("ldmatrix" + name, &run_load<kMatrices, false, kGeneric>);
  r.add("ldmatrix" + name + ".trans", &run_load<kMatrices, true, kGeneric>);
  r.add("stmatrix" + name, &run_store<kMatrices, false, kGeneric>);
  r.add("stmatrix" + name + ".trans", &run_store<kMatrices, true, kGeneric>);
}

template <int kMatrices>
void both_spaces(Registry& r) {
  both_orders<kMatrices, false>(r);
  both_orders<kMatrices, true>(r);
}

}  // namespace

void register_matrix_loads(Registry& r) {
  both_spaces<1>(r);
  both_spaces<2>(r);
  both_spaces<4>(r);
  r.add("movmatrix.trans", &run_transpose);
}

}  // namespace flashpath::exec
