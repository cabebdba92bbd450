#include "program/operations.h"

#include <algorithm>
#include <stdexcept>

namespace flashpath::program {

Handler Registry::find(std::string_view name) const {
  const auto found = handlers_.find(std::string(name));
  return found == handlers_.end() ? nullptr : found->second;
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  names.reserve(handlers_.size());
  for (const auto& [name, handler] : handlers_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

void Registry::add(std::string name, Handler handler) {
  if (!handlers_.emplace(name, handler).second) {
    throw std::logic_error("two operations are called " + name);
  }
}

}  // namespace flashpath::program
