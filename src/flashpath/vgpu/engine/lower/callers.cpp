// Who calls a library's function that was not inlined: its instructions are told at the caller's line, where there is
// only one.
#include <optional>
#include <utility>

#include "lower/builder.h"

namespace flashpath::lower {
namespace {

using Line = std::pair<u32, u32>;  // file and line

class Callers {
 public:
  explicit Callers(Program& program) : program_(program), sites_(program.functions.size()) {
    for (const Instruction& each : program.code) {
      if (each.kind == Kind::kCall && each.target < sites_.size()) sites_[each.target].push_back(each.index);
    }
  }

  void name(u32 function) {
    const std::optional<Line> caller = user_line_of(function, 0);
    if (!caller) return;
    const std::size_t next = function + 1;
    const std::size_t end = next < program_.functions.size() ? program_.functions[next].entry : program_.code.size();
    for (std::size_t k = program_.functions[function].entry; k < end; ++k) {
      Origin& origin = program_.origins[k];
      if (!is_of_library(origin)) continue;
      origin.library_file = std::exchange(origin.file, caller->first);
      origin.library_line = std::exchange(origin.line, caller->second);
    }
  }

 private:
  bool is_of_library(const Origin& origin) const {
    return origin.line != 0 && origin.file < program_.of_library.size() && program_.of_library[origin.file];
  }

  u32 function_of(u32 instruction) const {
    u32 found = 0;
    for (u32 k = 0; k < program_.functions.size(); ++k) {
      if (program_.functions[k].entry <= instruction) found = k;
    }
    return found;
  }

  // The one line of the user's from which it is called, be it through other functions of libraries.
  std::optional<Line> user_line_of(u32 function, u32 depth) const {
    constexpr u32 kDeepest = 16;
    std::optional<Line> found;
    for (const u32 site : sites_[function]) {
      const Origin& origin = program_.origins[site];
      std::optional<Line> line = Line{origin.file, origin.line};
      if (is_of_library(origin)) line = depth < kDeepest ? user_line_of(function_of(site), depth + 1) : std::nullopt;
      if (!line || line->second == 0 || (found && *found != *line)) return std::nullopt;
      found = line;
    }
    return found;
  }

  Program& program_;
  std::vector<std::vector<u32>> sites_;  // by function: the calls of it
};

}  // namespace

void name_callers(Program& program) {
  Callers callers(program);
  // From the last on: what calls it is not renamed yet.
  for (u32 k = static_cast<u32>(program.functions.size()); k-- > 1;) callers.name(k);
}

}  // namespace flashpath::lower
