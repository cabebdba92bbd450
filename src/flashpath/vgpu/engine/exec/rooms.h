// The operations change the machine and follow the program: exec/ uses the names of these two rooms as its own.
#pragma once

namespace flashpath::machine {}
namespace flashpath::program {}

namespace flashpath::exec {

using namespace machine;
using namespace program;

}  // namespace flashpath::exec
