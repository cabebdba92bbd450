// From parsed PTX to a program: registers get their places, names their addresses, instructions their handlers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "ptx/ast.h"

namespace flashpath::lower {

// A module and its variables, which all its kernels share.
struct LoadedModule {
  ptx::Module module;
  std::vector<u64> variable_address;  // one for each of the module's variables
  std::shared_ptr<ModuleMemory> memory;
};

LoadedModule load(ptx::Module module, VariableBases bases = {});

// `library_files` are those of the module's files, by their numbers, that are not the user's. Throws Error where the
// module has no such kernel or the kernel uses what the engine does not know.
Program lower(const LoadedModule& module, std::string_view kernel, const std::vector<u32>& library_files);

// The opcodes that some form is known of, such as "add"; sorted.
std::vector<std::string> known_opcodes();

}  // namespace flashpath::lower
