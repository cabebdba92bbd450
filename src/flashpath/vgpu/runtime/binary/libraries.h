// Which source files are the user's, and which come with CUDA or with the host's compiler.
#pragma once

#include <optional>
#include <string>

namespace flashpath::runtime {

// What an #include calls a header of CUDA or of the host's compiler; nullopt for any other file.
std::optional<std::string> library_name(const std::string& file);

}  // namespace flashpath::runtime
