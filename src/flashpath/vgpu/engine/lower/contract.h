// Which products a GPU's assembler takes into the sums that use them.
//
// ptxas makes one fused multiply-add of a plain `mul` and the plain `add` or `sub` that uses it, which rounds once
// where PTX reads as if it rounded twice. Results have the bits of the hardware only if the same pairs are fused
// here; docs/decisions/0013-contraction.md says what ptxas was seen to do.
#pragma once

#include <vector>

#include "program/types.h"
#include "ptx/ast.h"

namespace flashpath::lower {

// What becomes of one PTX instruction.
struct Contraction {
  // Of a sum: the instruction whose product it takes in, and the signs that product and addend then have.
  u32 product = ptx::kNone;
  u32 addend = 0;  // which operand of the sum is the other one
  bool negates_product = false;
  bool negates_addend = false;
  // Of a product: nobody else needs its result.
  bool is_absorbed = false;
  // Of a product: one of its factors changes before the sum that needs it.
  bool keeps_factors = false;
};

// One per instruction of the function.
std::vector<Contraction> find_contractions(const ptx::Module& module, const ptx::Function& function);

}  // namespace flashpath::lower
