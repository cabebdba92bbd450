// Operands in brackets: a register or a symbol, and an offset.
#pragma once

#include "lower/instructions.h"

namespace flashpath::lower {

struct Address {
  u32 base = kNoRegister;
  s64 offset = 0;
};

// The offset beside a base, which PTX has in 32 bits.
s64 address_offset(const Builder& b, const Operand& base);
// `width`: of addresses in that space, in bytes.
Address address(Builder& b, const Operand& bracket, u32 width);

}  // namespace flashpath::lower
