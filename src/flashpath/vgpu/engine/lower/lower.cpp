#include "lower/lower.h"

#include "lower/accumulators.h"

#include <algorithm>
#include <deque>

#include "lower/builder.h"
#include "lower/call_graph.h"

namespace flashpath::lower {
namespace {

// A thread's stack for recursive functions. CUDA gives 1 KiB unless asked for more; a laptop has this much.
constexpr u64 kStackBytes = 32 << 10;
constexpr u64 kMostSharedBytes = 1 << 20;
// What cooperative groups use for tiles of several warps; their header counts on so much.
constexpr u32 kReservedSharedBytes = 288;
constexpr u64 kMostVariableBytes = u64(1) << 30;
constexpr u64 kMostLocalBytes = 512 << 10;   // of a thread, on every GPU

u32 find(const ptx::Module& module, std::string_view kernel) {
  std::string names;
  for (std::size_t k = 0; k < module.functions.size(); ++k) {
    const ptx::Function& function = module.functions[k];
    if (!function.is_entry || function.is_declaration) continue;
    if (function.name == kernel) return static_cast<u32>(k);
    names.append(names.empty() ? "" : ", ").append(function.name);
  }
  throw Error("vgpu.no-such-entry",
              names.empty() ? Message("vgpu.ptx.no-entries") : Message("vgpu.ptx.other-entries", {{"names", names}}));
}

void place_registers(Builder& builder, FunctionCode& code) {
  for (const ptx::Register& each : builder.function.registers) {
    u32 width = bytes_of(each.type);
    if (width == 1) width = 2;
    if (width > 8 && builder.recursive) {
      builder.refuse({"vgpu.ptx.wide-registers-in-recursion", {{"function", code.name}}});
    }
    builder.register_offset.push_back(builder.reserve(width));
    if (builder.recursive) code.registers.emplace_back(builder.register_offset.back(), width);
  }
}

// Where the code of a function branches to, and where its basic blocks begin.
void connect(Program& program, const ptx::Function& function, const std::vector<u32>& start, u32 first) {
  const auto place_of = [&](u32 label) { return start[function.labels[label].instruction]; };
  for (u32 k = first; k < program.code.size(); ++k) {
    Instruction& each = program.code[k];
    if (each.kind == Kind::kStraight) continue;
    if (each.kind == Kind::kBranch) {
      each.target = place_of(each.target);
      program.code[each.target].leader = true;
    } else if (each.kind == Kind::kBranchTable) {
      std::vector<u32> targets;
      for (const u32 label : function.branch_tables[each.target].labels) {
        targets.push_back(place_of(label));
        program.code[targets.back()].leader = true;
      }
      each.target = static_cast<u32>(program.branch_tables.size());
      program.branch_tables.push_back(std::move(targets));
    } else if (each.kind == Kind::kWarpSync || each.kind == Kind::kBarrier) {
      each.leader = true;
    }
    if (k + 1 < program.code.size()) program.code[k + 1].leader = true;
  }
}

bool uses_reserved_shared(const ptx::Function& function) {
  return std::any_of(function.operands.begin(), function.operands.end(),
                     [](const ptx::Operand& operand) { return operand.name == "%reserved_smem_offset_1"; });
}

void lower_body(Builder& builder, FunctionCode& code) {
  Program& program = builder.program;
  const ptx::Function& function = builder.function;
  code.entry = static_cast<u32>(program.code.size());
  std::vector<u32> start(function.instructions.size() + 1);  // ptx instruction → where its code begins
  std::vector<bool> is_target(function.instructions.size() + 1);
  for (const ptx::Label& label : function.labels) is_target[label.instruction] = true;
  Accumulators accumulators(function);
  builder.accumulators = &accumulators;
  const std::vector<Contraction> contractions = find_contractions(builder.module, function);
  for (std::size_t k = 0; k < function.instructions.size(); ++k) {
    start[k] = static_cast<u32>(program.code.size());
    const bool after_call = k > 0 && function.instructions[k - 1].opcode == "call";
    builder.next_instruction(function.instructions[k], is_target[k] || after_call);
    builder.contraction = contractions[k];
    accumulators.before(builder, is_target[k] || after_call);
    lower_instruction(builder);
  }
  start.back() = static_cast<u32>(program.code.size());
  // Whoever runs past the end returns.
  ptx::Instruction end;
  end.opcode = "ret";
  builder.current = &end;
  builder.accumulators = nullptr;
  builder.emit("ret", Kind::kReturn).leader = true;
  program.origins.back().text.clear();
  program.code[code.entry].leader = true;
  connect(program, function, start, code.entry);
  order_blocks(program, code.entry);
}

std::vector<LocalPlace> places(const std::vector<ptx::Parameter>& parameters, const std::vector<u64>& offsets) {
  std::vector<LocalPlace> found;
  for (std::size_t k = 0; k < parameters.size(); ++k) found.push_back({offsets[k], size_of(parameters[k].variable)});
  return found;
}

}  // namespace

LoadedModule load(ptx::Module module, VariableBases bases) {
  LoadedModule loaded;
  const ModuleLayout layout = lay_out(module, bases);
  if (std::max({layout.globals, layout.constants, layout.managed}) > kMostVariableBytes) {
    const u64 all = layout.globals + layout.constants + layout.managed;
    throw Error("vgpu.variables-too-large", {"vgpu.ptx.variable-bytes", {{"bytes", all}, {"most", kMostVariableBytes}}});
  }
  loaded.memory = initial_memory(module, layout, bases);
  loaded.variable_address = layout.address;
  loaded.module = std::move(module);
  return loaded;
}

Program lower(const LoadedModule& loaded, std::string_view kernel, const std::vector<u32>& library_files) {
  const ptx::Module& module = loaded.module;
  const CallGraph graph = reach(module, find(module, kernel));
  Program program;
  program.name = kernel;
  program.memory = loaded.memory;
  program.register_bytes = 64;  // offset 0 is nobody's: a forgotten operand shows
  for (const ptx::File& file : module.files) {
    if (program.files.size() <= file.index) program.files.resize(file.index + 1);
    program.files[file.index] = file.path;
  }
  program.of_library.resize(program.files.size());
  for (const u32 file : library_files) {
    if (file < program.of_library.size()) program.of_library[file] = true;
  }
  const ptx::Performance& performance = module.functions[graph.functions[0]].performance;
  for (const auto& extent : {performance.maxntid, performance.reqntid}) {
    if (extent) program.max_threads = (*extent)[0] * std::max(1u, (*extent)[1]) * std::max(1u, (*extent)[2]);
  }
  if (performance.blocksareclusters) throw Error("vgpu.unsupported-kernel", {"vgpu.ptx.blocks-are-clusters"});
  if (performance.reqnctapercluster) std::copy_n(performance.reqnctapercluster->begin(), 3, program.cluster);
  program.explicit_cluster = performance.explicitcluster || performance.reqnctapercluster.has_value();

  ModuleLayout layout = lay_out(module, loaded.memory->bases);
  place_shared(module, graph.functions, layout);
  std::vector<u32> codes(module.functions.size(), ptx::kNone);
  for (std::size_t k = 0; k < graph.functions.size(); ++k) codes[graph.functions[k]] = static_cast<u32>(k);
  u64 shared = layout.shared;
  u64 local = 0;
  std::deque<Builder> builders;  // which stay where they are
  program.functions.resize(graph.functions.size());
  for (std::size_t k = 0; k < graph.functions.size(); ++k) {
    const ptx::Function& function = module.functions[graph.functions[k]];
    FunctionCode& code = program.functions[k];
    code.name = function.name;
    code.address = kFunctionsBase + 16 * u64(graph.functions[k]);
    code.recursive = graph.recursive[k];
    Builder& builder = builders.emplace_back(module, function, program, codes, code.recursive);
    builder.global_address = layout.address;
    u64 frame = 0;
    place_variables(builder, shared, code.recursive ? frame : local);
    code.frame_bytes = std::max<u64>(16, (frame + 15) / 16 * 16);  // none is free: endless recursion ends
    if (!function.is_entry) code.parameters = places(function.parameters, builder.parameter_offset);
    code.returns = places(function.returns, builder.return_offset);
    place_registers(builder, code);
  }
  const auto uses_reserved = [](const Builder& builder) { return uses_reserved_shared(builder.function); };
  if (std::any_of(builders.begin(), builders.end(), uses_reserved)) {
    const u64 reserved = (shared + 15) / 16 * 16;
    for (Builder& builder : builders) builder.reserved_shared = reserved;
    shared = reserved + kReservedSharedBytes;
    program.reserved_shared_bytes = kReservedSharedBytes;
  }
  // Dynamic shared memory begins where the static ends, aligned for any access, and as its declarations ask.
  u64 alignment = 16;
  const auto consider = [&](const std::vector<ptx::Variable>& variables) {
    for (const ptx::Variable& variable : variables) {
      if (is_dynamic_shared(variable)) alignment = std::max(alignment, alignment_of(variable));
    }
  };
  consider(module.variables);
  for (const Builder& builder : builders) consider(builder.function.variables);
  const u64 dynamic = (shared + alignment - 1) / alignment * alignment;
  for (Builder& builder : builders) {
    for (std::size_t k = 0; k < module.variables.size(); ++k) {
      if (is_dynamic_shared(module.variables[k])) builder.global_address[k] = dynamic;
    }
    for (std::size_t k = 0; k < builder.function.variables.size(); ++k) {
      if (is_dynamic_shared(builder.function.variables[k])) builder.variable_address[k] = dynamic;
    }
  }
  const auto limit = [&](const char* code, u64 bytes, u64 most) {
    if (bytes > most) builders.front().refuse_size({code, {{"bytes", bytes}}});
  };
  limit("vgpu.ptx.shared-bytes", std::max(shared, dynamic), kMostSharedBytes);
  limit("vgpu.ptx.local-bytes", local, kMostLocalBytes);
  program.shared_bytes = static_cast<u32>(shared);
  program.dynamic_shared_offset = static_cast<u32>(dynamic);
  program.stack_base = static_cast<u32>((local + 15) / 16 * 16);
  const bool recursive = std::find(graph.recursive.begin(), graph.recursive.end(), true) != graph.recursive.end();
  if (recursive) builders.front().frame_pointer();
  program.local_bytes = recursive ? static_cast<u32>(program.stack_base + kStackBytes) : static_cast<u32>(local);
  for (std::size_t k = 0; k < builders.size(); ++k) lower_body(builders[k], program.functions[k]);
  name_callers(program);
  program.register_bytes = (program.register_bytes + 63) / 64 * 64;
  // Blocks that talk to each other do it by atomics or by accesses that say who must see them.
  for (const Origin& origin : program.origins) {
    const auto has = [&](std::string_view word) { return origin.text.find(word) != std::string::npos; };
    if (origin.text.starts_with("mbarrier") || origin.text.starts_with("barrier")) continue;  // within a cluster
    program.order_matters |= origin.text.starts_with("atom") || origin.text.starts_with("cp.reduce") || origin.text.starts_with("red.") || has(".volatile") ||
                             has(".acquire") || has(".release") || has(".relaxed") || has(".mmio");
  }
  return program;
}

}  // namespace flashpath::lower
