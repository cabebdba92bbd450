#include "lower/address.h"

namespace flashpath::lower {

Address address(Builder& b, const Operand& bracket, u32 width) {
  if (bracket.kind != OperandKind::kAddress || b.parts(bracket).size() != 1) {
    b.refuse(b.spelled() + ": an address [base + offset] is expected");
  }
  const Operand& base = b.parts(bracket)[0];
  Address found;
  if (base.kind == OperandKind::kSymbol) {
    const u64 place = b.address_of(base.symbol, base.index);
    if (b.in_frame(base.symbol, base.index)) {
      found.base = b.frame_pointer();
      found.offset = base.value + static_cast<s64>(place);
    } else {
      found.base = b.constant(width, place);
      found.offset = base.value;
    }
  } else if (base.kind == OperandKind::kInteger) {
    found.base = b.constant(width, static_cast<u64>(base.value));
  } else {
    found.offset = base.value;
    if (b.width_of(base) == width) {
      found.base = b.register_offset[base.index];
    } else if (b.width_of(base) == 8 && width == 4) {  // a 64-bit register with an address in shared memory
      const u32 narrow = b.reserve(4);
      Instruction& i = b.emit("cvt.u32.u64/32.64");
      i.dst[0] = narrow;
      i.a[0] = b.register_offset[base.index];
      found.base = narrow;
    } else {
      b.refuse(b.spelled() + ": an address of " + bits(b.width_of(base)) + " bits");
    }
  }
  return found;
}

}  // namespace flashpath::lower
