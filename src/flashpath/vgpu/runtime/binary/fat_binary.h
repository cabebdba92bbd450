// The device code that nvcc puts into a program: for each source file a fat binary, which holds images of its code,
// as PTX and as machine code (cubin).
#pragma once

#include <string_view>
#include <vector>

namespace flashpath::runtime {

struct Image {
  bool is_ptx = false;  // otherwise a cubin
  int architecture = 0;  // 80 for sm_80
  bool is_linked = false;  // of one of the source files that were linked; the cubin of all is beside it
  std::string_view bytes;  // in the program's own memory
};

// The images behind the handle that a program registers; throws a Failure where it is none.
std::vector<Image> images_of(const void* wrapper);

}  // namespace flashpath::runtime
