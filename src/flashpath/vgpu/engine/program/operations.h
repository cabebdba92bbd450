// Every operation the engine knows, by its PTX name without the modifiers that change nothing here.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "program/program.h"

namespace flashpath::program {

class Registry {
 public:
  // All that there are: exec/operations.cpp adds them, so that what lowers code knows handlers by name alone.
  static const Registry& get();

  // nullptr where there is no such operation.
  Handler find(std::string_view name) const;
  std::vector<std::string> names() const;  // sorted

  void add(std::string name, Handler handler);

 private:
  std::unordered_map<std::string, Handler> handlers_;
};

}  // namespace flashpath::program
