#include "messages/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>

namespace flashpath {

std::string kernel_name(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  std::string told = status == 0 ? text : mangled;
  std::free(text);
  // The name alone: without what it returns, which instances of templates have, and without its parameters.
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t k = 0; k < told.size(); ++k) {
    if (told[k] == '<') ++depth;
    if (told[k] == '>') --depth;
    if (told[k] == '(' && depth == 0) return told.substr(begin, k - begin);
    if (told[k] == ' ' && depth == 0) begin = k + 1;
  }
  return told;
}

}  // namespace flashpath
