// The name of a kernel as people write it.
#pragma once

#include <string>

namespace flashpath {

// `_ZN2ns5scaleIfEEviT_PS1_` → `ns::scale<float>`; what is not mangled stays as it is.
std::string kernel_name(const std::string& mangled);

}  // namespace flashpath
