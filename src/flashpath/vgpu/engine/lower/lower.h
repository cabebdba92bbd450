// From parsed PTX to a program: registers get their places, names their addresses, instructions their handlers.
#pragma once

#include <string_view>

#include "lower/program.h"
#include "ptx/ast.h"

namespace flashpath::lower {

// Throws Error where the module has no such kernel or the kernel uses what the engine does not know.
Program lower(const ptx::Module& module, std::string_view kernel);

}  // namespace flashpath::lower
