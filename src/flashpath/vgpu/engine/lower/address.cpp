#include "lower/address.h"

#include <algorithm>
#include <limits>

namespace flashpath::lower {
namespace {

// Such as Triton asks LLVM for: addresses in local and constant memory then stand in 32 bits.
bool takes_short_pointers(const Builder& b) {
  return std::ranges::any_of(b.modifiers(), [](std::string_view name) { return name == "local" || name == "const"; });
}

u32 converted(Builder& b, const Operand& base, u32 width, const std::string& conversion) {
  u32& result = b.converted_addresses[base.index];  // made once for all accesses that follow each other
  if (result == 0) {
    result = b.reserve(width);
    Instruction& i = b.emit_hidden(conversion);
    i.guard = kNoRegister;  // those that follow may have other guards
    i.dst[0] = result;
    i.a[0] = b.register_offset[base.index];
  }
  return result;
}

}  // namespace

s64 address_offset(const Builder& b, const Operand& base) {
  if (base.value < std::numeric_limits<s32>::min() || base.value > std::numeric_limits<s32>::max()) {
    b.refuse("vgpu.ptx.offset-too-large", {{"offset", std::to_string(base.value)}});
  }
  return base.value;
}

Address address(Builder& b, const Operand& bracket, u32 width) {
  if (bracket.kind != OperandKind::kAddress || b.parts(bracket).size() != 1) {
    b.refuse("vgpu.ptx.notation-expected", {{"expected", "[base + offset]"}});
  }
  const Operand& base = b.parts(bracket)[0];
  Address found;
  if (base.kind == OperandKind::kSymbol) {
    const u64 place = b.address_of(base.symbol, base.index);
    if (b.in_frame(base.symbol, base.index)) {
      found.base = b.frame_pointer();
      found.offset = address_offset(b, base) + static_cast<s64>(place);
    } else {
      found.base = b.constant(width, place);
      found.offset = address_offset(b, base);
    }
  } else if (base.kind == OperandKind::kInteger) {
    found.base = b.constant(width, static_cast<u64>(base.value));
  } else {
    found.offset = address_offset(b, base);
    if (b.width_of(base) == width) {
      found.base = b.register_offset[base.index];
    } else if (b.width_of(base) == 8 && width == 4) {  // a 64-bit register with an address in shared memory
      found.base = converted(b, base, width, "cvt.u32.u64/32.64");
    } else if (b.width_of(base) == 4 && width == 8 && takes_short_pointers(b)) {
      found.base = converted(b, base, width, "cvt.u64.u32/64.32");
    } else {
      b.refuse("vgpu.ptx.address-bits", {{"bits", 8 * b.width_of(base)}});
    }
  }
  return found;
}

}  // namespace flashpath::lower
