// From parsed PTX to a program: registers get their places, names their addresses, instructions their handlers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lower/program.h"
#include "ptx/ast.h"

namespace flashpath::lower {

// Throws Error where the module has no such kernel or the kernel uses what the engine does not know.
Program lower(const ptx::Module& module, std::string_view kernel);

// The opcodes that some form is known of, such as "add"; sorted.
std::vector<std::string> known_opcodes();

}  // namespace flashpath::lower
