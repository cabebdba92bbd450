#include "lower/lower.h"

#include <algorithm>

#include "lower/builder.h"

namespace flashpath::lower {
namespace {

const ptx::Function& find(const ptx::Module& module, std::string_view kernel) {
  std::string names;
  for (const ptx::Function& function : module.functions) {
    if (!function.is_entry || function.is_declaration) continue;
    if (function.name == kernel) return function;
    names.append(names.empty() ? "" : ", ").append(function.name);
  }
  throw Error("there is no kernel " + std::string(kernel) + "; the module has: " + (names.empty() ? "none" : names), 0,
              "", 0);
}

}  // namespace

Program lower(const ptx::Module& module, std::string_view kernel) {
  const ptx::Function& function = find(module, kernel);
  Program program;
  program.name = kernel;
  for (const ptx::File& file : module.files) {
    if (program.files.size() <= file.index) program.files.resize(file.index + 1);
    program.files[file.index] = file.path;
  }
  for (const auto& extent : {function.performance.maxntid, function.performance.reqntid}) {
    if (extent) program.max_threads = (*extent)[0] * std::max(1u, (*extent)[1]) * std::max(1u, (*extent)[2]);
  }

  Builder builder(module, function, program);
  program.register_bytes = 64;  // offset 0 is nobody's: a forgotten operand shows
  for (const ptx::Register& each : function.registers) {
    const u32 width = bytes_of(each.type);
    builder.register_offset.push_back(builder.reserve(width == 1 ? 2 : width));
  }
  place_variables(builder);

  std::vector<u32> start(function.instructions.size() + 1);  // ptx instruction → where its code begins
  for (std::size_t k = 0; k < function.instructions.size(); ++k) {
    start[k] = static_cast<u32>(program.code.size());
    builder.current = &function.instructions[k];
    lower_instruction(builder);
  }
  start.back() = static_cast<u32>(program.code.size());
  // Whoever runs past the end has ended.
  ptx::Instruction end;
  end.opcode = "exit";
  builder.current = &end;
  builder.emit("exit", Kind::kExit).leader = true;

  for (Instruction& each : program.code) {
    if (each.kind == Kind::kBranch) {
      each.target = start[function.labels[each.target].instruction];
      program.code[each.target].leader = true;
      program.code[each.index + 1].leader = true;
    } else if (each.kind == Kind::kBarrier || each.kind == Kind::kWarpSync || each.kind == Kind::kExit) {
      if (each.index + 1 < program.code.size()) program.code[each.index + 1].leader = true;
    }
    if (each.kind == Kind::kWarpSync) each.leader = true;
  }
  program.register_bytes = (program.register_bytes + 63) / 64 * 64;
  return program;
}

}  // namespace flashpath::lower
