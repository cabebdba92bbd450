// Writes a module as PTX text again, in one canonical form that parses to the same module: one statement a line,
// constants folded, scopes dissolved (a name that two scopes use is told apart by a suffix), only registers in
// use, declarations first. Debug sections are left out.
#pragma once

#include <string>

#include "ptx/ast.h"

namespace flashpath::ptx {

std::string print(const Module& module);

// The opcode with its modifiers: "ld.global.v4.f32".
std::string full_opcode(const Function& function, const Instruction& instruction);

}  // namespace flashpath::ptx
