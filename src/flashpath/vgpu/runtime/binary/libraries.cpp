#include "binary/libraries.h"

#include <filesystem>
#include <system_error>

namespace flashpath::runtime {

std::optional<std::string> library_name(const std::string& file) {
  const std::filesystem::path path = std::filesystem::path(file).lexically_normal();
  for (std::filesystem::path folder = path.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(folder / "cuda_runtime_api.h", ignored)) continue;
    std::string name = path.lexically_relative(folder).string();
    if (name.starts_with("cccl/")) name.erase(0, 5);
    return name;
  }
  const std::string text = path.string();
  if (text.starts_with("/usr/include/") || text.starts_with("/usr/lib/")) return path.filename().string();
  return std::nullopt;
}

}  // namespace flashpath::runtime
