// A factor of wgmma in shared memory, as its descriptor tells: 16 bytes at a time.
//
// A descriptor has an address, two distances and a swizzle. Rows of the matrix come in groups of eight. K-major: the 16 bytes of
// a row's k are next to each other (or, without a swizzle, `leading` apart), rows are as far apart as the swizzle is wide, and
// groups of rows `stride`. MN-major: 16 bytes are elements of one k, and eight k follow each other likewise. The swizzle
// changes bits of the whole address, so that what is moved along k begins somewhere inside of its pattern.
#pragma once

#include <cstddef>

#include "exec/rooms.h"
#include "program/types.h"

namespace flashpath::exec::tensor_core {

class SharedMatrix {
 public:
  static constexpr u32 kChunk = 16;

  SharedMatrix(u64 descriptor, bool is_mn_major)
      : start_(field(descriptor, 0)),
        leading_(field(descriptor, 16)),
        stride_(field(descriptor, 32)),
        phase_(static_cast<u32>(descriptor >> 49) & 7),
        bits_(bits_of(descriptor >> 62)),
        is_mn_major_(is_mn_major) {}

  // K-major: the 16 bytes `part` of a row. MN-major: elements from 8 · `part` on, of one k.
  u32 address(u32 row_or_k, u32 part) const {
    const u32 group = row_or_k / 8;
    const u32 width = kChunk << bits_;
    u32 at = start_ + row_or_k % 8 * width;
    if (!is_mn_major_) {
      at += group * stride_ + part * (bits_ == 0 ? leading_ : kChunk);
    } else if (bits_ == 0) {
      at += part * stride_ + group * leading_;
    } else {
      const u32 across = 1u << bits_;
      at += part % across * kChunk + part / across * leading_ + group * stride_;
    }
    const u32 row_of_pattern = (at >> 7) - phase_;
    return at ^ (row_of_pattern & ((1u << bits_) - 1)) << 4;
  }

 private:
  static u32 field(u64 descriptor, u32 shift) { return (static_cast<u32>(descriptor >> shift) & 0x3fffu) << 4; }
  // log₂ of how many chunks the swizzle is wide: 128, 64 or 32 bytes are numbered 1, 2 and 3.
  static u32 bits_of(u64 mode) { return mode == 0 ? 0 : 4 - static_cast<u32>(mode); }

  u32 start_;
  u32 leading_;
  u32 stride_;
  u32 phase_;
  u32 bits_;
  bool is_mn_major_;
};

}  // namespace flashpath::exec::tensor_core
