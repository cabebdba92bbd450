// The program under construction: what every part of the lowering writes to and asks.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lower/error.h"
#include "lower/program.h"
#include "ptx/ast.h"

namespace flashpath::lower {

inline u32 bytes_of(ptx::Type type) {
  using ptx::Type;
  switch (type) {
    case Type::kPred: return 0;
    case Type::kB8: case Type::kU8: case Type::kS8: return 1;
    case Type::kB16: case Type::kU16: case Type::kS16: case Type::kF16: case Type::kBf16: return 2;
    case Type::kB64: case Type::kU64: case Type::kS64: case Type::kF64: return 8;
    case Type::kB128: return 16;
    default: return 4;
  }
}

class Builder {
 public:
  Builder(const ptx::Module& module, const ptx::Function& function, Program& program)
      : module(module), function(function), program(program) {}

  const ptx::Module& module;
  const ptx::Function& function;
  Program& program;
  const ptx::Instruction* current = nullptr;

  std::span<const std::string_view> modifiers() const { return ptx::slice(function.modifiers, current->modifiers); }
  std::span<const ptx::Operand> operands() const { return ptx::slice(function.operands, current->operands); }
  std::span<const ptx::Operand> parts(const ptx::Operand& operand) const {
    return ptx::slice(function.operands, operand.parts);
  }

  // `add.s32` as written.
  std::string spelled() const;
  [[noreturn]] void refuse(const std::string& why) const;

  // Places in the register file ----------------------------------------------------------------------------
  u32 reserve(u32 width);  // 0: a predicate
  u32 constant(u32 width, u64 bits);
  u32 width_of(const ptx::Operand& operand) const;  // of a register; 0: a predicate
  // Where an operand of that width stands: a register, a special register, or a constant.
  u32 source(const ptx::Operand& operand, u32 width);
  u32 predicate(const ptx::Operand& operand);
  u32 destination(const ptx::Operand& operand, u32 width);  // kNoRegister for the sink
  u32 special(const ptx::Operand& operand);
  u32 carry();  // the condition code that add.cc and its kind write

  // Addresses ----------------------------------------------------------------------------------------------
  // Of a symbol in its own space.
  u64 address_of(ptx::SymbolKind kind, u32 index) const;
  ptx::Space space_of(ptx::SymbolKind kind, u32 index) const;

  std::vector<u32> register_offset;   // by ptx register index
  std::vector<u64> parameter_offset;  // by parameter
  std::vector<u64> variable_address;  // the function's own
  std::vector<u64> global_address;    // the module's

  // Instructions -------------------------------------------------------------------------------------------
  Instruction& emit(const std::string& name, Kind kind = Kind::kStraight);

 private:
  void refuse_component(const ptx::Operand& operand) const;

  std::map<std::pair<u32, u64>, u32> constants_;
  u32 carry_ = kNoRegister;
};

// One PTX instruction; appends what it becomes.
void lower_instruction(Builder& builder);
// Places variables in shared, local, global and constant memory; fills in what initialises them.
void place_variables(Builder& builder);

}  // namespace flashpath::lower
