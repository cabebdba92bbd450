// Which functions a kernel may come to.
#pragma once

#include <vector>

#include "program/types.h"
#include "ptx/ast.h"

namespace flashpath::lower {

struct CallGraph {
  std::vector<u32> functions;   // by their indices in the module, the kernel first
  std::vector<bool> recursive;  // of each: whether it may come to itself
};

CallGraph reach(const ptx::Module& module, u32 kernel);

// The function that a call by name means: an alias stands for another one.
u32 resolve_alias(const ptx::Module& module, u32 function);

}  // namespace flashpath::lower
