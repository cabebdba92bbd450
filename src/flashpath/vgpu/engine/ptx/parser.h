// Reads PTX text (ISA 8.x and 9.x, as nvcc, NVRTC and Triton write it) into a module.
//
// The shape of the text and its names are checked here; what an opcode is, which modifiers it takes and which
// types its operands have are not: any `name.modifier.modifier operands;` is an instruction.
#pragma once

#include <string_view>
#include <vector>

#include "ptx/ast.h"
#include "ptx/error.h"

namespace flashpath::ptx {

// Throws Error on malformed text; takes time and memory in proportion to the text, whatever it says.
Module parse(std::string_view text);

// Of several texts one module, as a linker makes it: what one declares as external another defines, and of weak
// definitions the first counts. Lines are counted through all of them.
Module parse_linked(const std::vector<std::string_view>& texts);

}  // namespace flashpath::ptx
