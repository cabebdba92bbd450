#include "lower/builder.h"

#include <bit>

#include "program/operations.h"

namespace flashpath::lower {
namespace {

constexpr u32 kVectorAlignment = 64;
constexpr u32 kWidestRegister = 16;  // bytes of a lane
constexpr u32 kMostRegisterBytes = 1 << 28;  // of a warp

Effect effect_of(std::string_view name) {
  const auto is = [&](std::string_view prefix) { return name.starts_with(prefix); };
  if (is("st.local.")) return Effect::kLocal;
  if (is("st.shared.") || is("stmatrix")) return Effect::kShared;
  if (is("ld.param.") || is("ld.local.")) return Effect::kNone;
  if (is("atom.") || is("mbarrier.wait")) return Effect::kAtomic;
  if (is("ld") || is("wmma.load") || is("nanosleep")) return Effect::kReads;
  if (is("st.") || is("wmma.store") || is("cp.") || is("mbarrier.") || is("call.") || is("tensormap.")) {
    return Effect::kWrites;
  }
  return Effect::kNone;
}

}  // namespace

std::string Builder::spelled() const {
  std::string text(current->opcode);
  for (const std::string_view modifier : modifiers()) text.append(".").append(modifier);
  return text;
}

Origin Builder::place() const {
  Origin origin;
  origin.ptx_line = current->line;
  if (current->location == ptx::kNone) return origin;
  const auto is_users = [&](const ptx::SourceLocation& at) {
    return at.line != 0 && !(at.file < program.of_library.size() && program.of_library[at.file]);
  };
  const ptx::SourceLocation& own = module.locations[current->location];
  const ptx::SourceLocation* shown = &own;
  while (!is_users(*shown) && shown->inlined_at != ptx::kNone) shown = &module.locations[shown->inlined_at];
  // A library's function that was not inlined: its callers are known only when it runs.
  if (!is_users(*shown)) shown = &own;
  origin.file = shown->file;
  origin.line = shown->line;
  if (shown != &own) {
    origin.library_file = own.file;
    origin.library_line = own.line;
  }
  return origin;
}

void Builder::refuse(const Message& why) const {
  if (current == nullptr) throw Error("vgpu.unsupported-kernel", why);
  const Origin origin = place();
  const std::string file = origin.file < program.files.size() ? program.files[origin.file] : "";
  const std::string source = origin.line == 0 ? "" : " (" + file + ":" + std::to_string(origin.line) + ")";
  throw Error("vgpu.unsupported-instruction", why, origin.ptx_line, source);
}

void Builder::refuse(const char* code, std::vector<MessageParameter> parameters) const {
  parameters.emplace_back("instruction", spelled());
  refuse(Message(code, std::move(parameters)));
}

void Builder::refuse_part(std::string_view modifier) const {
  refuse("vgpu.ptx.part-not-known", {{"part", std::string(modifier)}});
}

void Builder::refuse_size(const Message& why) const {
  throw Error("vgpu.kernel-too-large", why);
}

u32 Builder::reserve(u32 width) {
  const u32 size = width == 0 ? 4 : width * kLanes;
  if (width != 0) {
    program.register_bytes = (program.register_bytes + kVectorAlignment - 1) / kVectorAlignment * kVectorAlignment;
  }
  const u32 offset = program.register_bytes;
  if (offset > kMostRegisterBytes) refuse_size({"vgpu.ptx.too-many-registers"});
  program.register_bytes += size;
  return offset;
}

u32 Builder::constant(u32 width, u64 bits) {
  if (width < 8 && width != 0) bits &= (u64(1) << (8 * width)) - 1;
  const auto [found, is_new] = constants_.try_emplace({width, bits}, 0);
  if (is_new) {
    found->second = reserve(width);
    program.constants.push_back({found->second, width, bits});
  }
  return found->second;
}

u32 Builder::width_of(const ptx::Operand& operand) const {
  if (operand.kind != ptx::OperandKind::kRegister) refuse("vgpu.ptx.register-expected");
  const u32 width = bytes_of(function.registers[operand.index].type);
  return width == 1 ? 2 : width;  // 8-bit registers are kept in 16 bits
}

void Builder::refuse_component(const ptx::Operand& operand) const {
  const bool is_video = current->opcode.starts_with("v");  // .b0 … .h1 are part of these instructions
  if (operand.component != ptx::Component::kWhole && !is_video) {
    refuse("vgpu.ptx.register-parts");
  }
}

u32 Builder::source(const ptx::Operand& operand, u32 width) {
  switch (operand.kind) {
    case ptx::OperandKind::kRegister:
      refuse_component(operand);
      if (width_of(operand) != width) {
        refuse("vgpu.ptx.register-bits", {{"given", 8 * width_of(operand)}, {"expected", 8 * width}});
      }
      return register_offset[operand.index];
    case ptx::OperandKind::kInteger:
      return constant(width, static_cast<u64>(operand.value));
    case ptx::OperandKind::kFloat32:
      if (width == 8) return constant(8, std::bit_cast<u64>(f64(std::bit_cast<f32>(static_cast<u32>(operand.value)))));
      return constant(width, static_cast<u64>(operand.value));
    case ptx::OperandKind::kFloat64:
      if (width == 4) {
        return constant(4, std::bit_cast<u32>(static_cast<f32>(std::bit_cast<f64>(operand.value))));
      }
      return constant(width, static_cast<u64>(operand.value));
    case ptx::OperandKind::kSymbol: {
      const u64 address = address_of(operand.symbol, operand.index) + static_cast<u64>(operand.value);
      if (!in_frame(operand.symbol, operand.index)) return constant(width, address);
      if (width != 8) refuse("vgpu.ptx.register-bits", {{"given", 64}, {"expected", 8 * width}});
      const u32 place = reserve(8);
      const u32 offset = constant(8, address);
      Instruction& i = emit_hidden("add.u64");
      i.dst[0] = place;
      i.a[0] = frame_pointer();
      i.b[0] = offset;
      return place;
    }
    case ptx::OperandKind::kSpecial:
      return special(operand, width);
    default:
      refuse("vgpu.ptx.operand-kind");
  }
}

u32 Builder::predicate(const ptx::Operand& operand) {
  if (operand.kind == ptx::OperandKind::kInteger) return constant(0, operand.value != 0);
  if (operand.kind == ptx::OperandKind::kSpecial) return special(operand, 0);
  if (operand.kind != ptx::OperandKind::kRegister || width_of(operand) != 0) {
    refuse("vgpu.ptx.predicate-expected");
  }
  return register_offset[operand.index];
}

u32 Builder::sink() {
  if (sink_ == kNoRegister) sink_ = reserve(kWidestRegister);
  return sink_;
}

u32 Builder::predicate_destination(const ptx::Operand& operand) {
  if (operand.kind == ptx::OperandKind::kSink) return sink();
  if (operand.kind != ptx::OperandKind::kRegister) refuse("vgpu.ptx.predicate-expected");
  return predicate(operand);
}

u32 Builder::destination(const ptx::Operand& operand, u32 width) {
  if (operand.kind == ptx::OperandKind::kSink) return sink();
  if (operand.kind != ptx::OperandKind::kRegister) refuse("vgpu.ptx.register-expected");
  refuse_component(operand);
  if (width_of(operand) != width) {
    refuse("vgpu.ptx.register-bits", {{"given", 8 * width_of(operand)}, {"expected", 8 * width}});
  }
  written_.push_back(operand.index);
  return register_offset[operand.index];
}

void Builder::next_instruction(const ptx::Instruction& instruction, bool joined) {
  current = &instruction;
  if (joined) converted_addresses.clear();
  for (const u32 index : written_) converted_addresses.erase(index);
  written_.clear();
}

u32 Builder::special(const ptx::Operand& operand, u32 width) {
  const std::string_view name = operand.name;
  if (name.starts_with("%clock") || name.starts_with("%globaltimer")) {
    const bool wide = name == "%clock64" || name == "%globaltimer";
    if (width != (wide ? 8 : 4)) refuse("vgpu.ptx.special-register-bits", {{"register", std::string(name)}, {"given", wide ? 64 : 32}, {"expected", 8 * width}});
    const u32 place = reserve(width);
    emit_hidden("read." + std::string(name.substr(1))).dst[0] = place;
    return place;
  }
  const bool is_grid_address = name == "%envreg1" || name == "%envreg2";
  if ((name.starts_with("%envreg") && !is_grid_address) || name.starts_with("%pm")) return constant(width, 0);
  if (name == "%reserved_smem_offset_1" && width == 4) return constant(width, reserved_shared);
  if (name == "%is_explicit_cluster") {
    if (width != 0) refuse("vgpu.ptx.predicate-expected");
    u32& slot = program.special.is_explicit_cluster;
    if (slot == kNoRegister) slot = reserve(0);
    return slot;
  }
  if (width == 0) refuse("vgpu.ptx.predicate-expected");
  const bool is_wide = name == "%gridid";
  const u32 offset = fixed_special(operand);
  if (width == (is_wide ? 8 : 4)) return offset;
  if (width != 8) refuse("vgpu.ptx.special-register-bits", {{"register", std::string(name)}, {"given", is_wide ? 64 : 32}, {"expected", 8 * width}});
  // The 32 bits of a special register, widened.
  const u32 place = reserve(8);
  Instruction& widened = emit_hidden("cvt.u64.u32/64.32");
  widened.dst[0] = place;
  widened.a[0] = offset;
  return place;
}

u32 Builder::fixed_special(const ptx::Operand& operand) {
  SpecialRegisters& s = program.special;
  const std::string_view name = operand.name;
  u32* slot = nullptr;
  const auto axis = [&](u32* triple) {
    switch (operand.component) {
      case ptx::Component::kX: return triple;
      case ptx::Component::kY: return triple + 1;
      case ptx::Component::kZ: return triple + 2;
      default: refuse("vgpu.ptx.notation-expected", {{"expected", std::string(name) + ".x | .y | .z"}});
    }
  };
  if (name == "%tid") slot = axis(s.tid);
  if (name == "%ctaid") slot = axis(s.ctaid);
  if (name == "%clusterid") slot = axis(s.clusterid);
  if (name == "%nclusterid") slot = axis(s.nclusterid);
  if (name == "%cluster_ctaid") slot = axis(s.cluster_ctaid);
  if (name == "%cluster_nctaid") slot = axis(s.cluster_nctaid);
  if (name == "%cluster_ctarank") slot = &s.cluster_ctarank;
  if (name == "%cluster_nctarank") slot = &s.cluster_nctarank;
  if (name == "%ntid") slot = axis(s.ntid);
  if (name == "%nctaid") slot = axis(s.nctaid);
  if (name == "%laneid") slot = &s.laneid;
  if (name == "%warpid") slot = &s.warpid;
  if (name == "%lanemask_lt") slot = &s.lanemask_lt;
  if (name == "%lanemask_le") slot = &s.lanemask_le;
  if (name == "%lanemask_eq") slot = &s.lanemask_eq;
  if (name == "%lanemask_ge") slot = &s.lanemask_ge;
  if (name == "%lanemask_gt") slot = &s.lanemask_gt;
  if (name == "%nwarpid") slot = &s.nwarpid;
  if (name == "%smid") slot = &s.smid;
  if (name == "%nsmid") slot = &s.nsmid;
  if (name == "%gridid") slot = &s.gridid;
  if (name == "%envreg1") slot = &s.envreg[0];
  if (name == "%envreg2") slot = &s.envreg[1];
  if (name == "%dynamic_smem_size") slot = &s.dynamic_smem_size;
  if (name == "%total_smem_size" || name == "%aggr_smem_size") slot = &s.total_smem_size;
  if (slot == nullptr) refuse("vgpu.ptx.special-register-not-known", {{"register", std::string(name)}});
  if (*slot == kNoRegister) *slot = reserve(name == "%gridid" ? 8 : 4);
  return *slot;
}

u32 Builder::carry() {
  if (carry_ == kNoRegister) carry_ = reserve(0);
  return carry_;
}

u64 Builder::address_of(ptx::SymbolKind kind, u32 index) const {
  switch (kind) {
    case ptx::SymbolKind::kGlobal: return global_address[index];
    case ptx::SymbolKind::kVariable: return variable_address[index];
    case ptx::SymbolKind::kParameter: return (function.is_entry ? kParametersBase : 0) + parameter_offset[index];
    case ptx::SymbolKind::kReturn: return return_offset[index];
    case ptx::SymbolKind::kFunction: return kFunctionsBase + 16 * u64(index);
    default: refuse("vgpu.ptx.address-of-label");
  }
}

ptx::Space Builder::space_of(ptx::SymbolKind kind, u32 index) const {
  switch (kind) {
    case ptx::SymbolKind::kGlobal: return module.variables[index].space;
    case ptx::SymbolKind::kVariable: {
      const ptx::Space space = function.variables[index].space;
      return space == ptx::Space::kParam ? ptx::Space::kLocal : space;
    }
    case ptx::SymbolKind::kParameter: return function.is_entry ? ptx::Space::kParam : ptx::Space::kLocal;
    case ptx::SymbolKind::kReturn: return ptx::Space::kLocal;
    default: return ptx::Space::kGeneric;
  }
}

u32 Builder::frame_pointer() {
  if (program.frame_pointer == kNoRegister) program.frame_pointer = reserve(8);
  return program.frame_pointer;
}

Instruction& Builder::emit_hidden(const std::string& name) {
  Instruction& instruction = emit(name);
  program.origins.back().text.clear();
  return instruction;
}

Instruction& Builder::emit(const std::string& name, Kind kind) {
  Instruction instruction;
  instruction.kind = kind;
  instruction.index = static_cast<u32>(program.code.size());
  instruction.effect = effect_of(name);
  if (kind == Kind::kStraight || kind == Kind::kWarpSync) {
    instruction.handler = program::Registry::get().find(name);
    if (instruction.handler == nullptr) refuse("vgpu.ptx.instruction-not-known");
  }
  if (current->guard != ptx::kNone) {
    if (function.registers[current->guard].type != ptx::Type::kPred) refuse("vgpu.ptx.predicate-expected");
    instruction.guard = register_offset[current->guard];
    instruction.guard_negated = current->guard_negated;
  }
  program.code.push_back(instruction);
  Origin origin = place();
  origin.text = spelled();
  origin.operation = name;
  program.origins.push_back(std::move(origin));
  return program.code.back();
}

}  // namespace flashpath::lower
