// Memory that kernels have got from malloc and never freed: any later kernel might have, as long as the program ran.
#pragma once

#include "state/runtime.h"

namespace flashpath::runtime {

// At the end of a sanitised program: writes what has leaked to its record.
void tell_heap_leaks(Runtime& runtime);

}  // namespace flashpath::runtime
