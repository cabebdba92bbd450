// What ptxas says of a kernel's resources, in the section .nv.info of a cubin. vgpu/cubin.py reads it where Python
// launches; a program has no Python.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace flashpath::runtime {

struct Resources {
  int registers = 0;
  int local_bytes = 0;  // of a thread: spilled registers, and arrays that no register can hold
};

// By the name of the kernel. A file that is no cubin has none.
std::map<std::string, Resources, std::less<>> resources_of(std::string_view cubin);

}  // namespace flashpath::runtime
