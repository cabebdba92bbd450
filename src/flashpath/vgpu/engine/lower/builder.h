// The program under construction: what every part of the lowering writes to and asks.
#pragma once

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lower/contract.h"
#include "lower/error.h"
#include "program/program.h"
#include "ptx/ast.h"

namespace flashpath::lower {

class Accumulators;

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
  // `function_codes`: by the function's index in the module, its index in Program::functions, or kNone.
  Builder(const ptx::Module& module, const ptx::Function& function, Program& program,
          const std::vector<u32>& function_codes, bool recursive)
      : module(module), function(function), program(program), function_codes(function_codes), recursive(recursive) {}

  const ptx::Module& module;
  const ptx::Function& function;
  Program& program;
  const std::vector<u32>& function_codes;
  const bool recursive;  // its local memory is a frame, found by the frame pointer
  const ptx::Instruction* current = nullptr;
  Contraction contraction;  // what becomes of it
  const Accumulators* accumulators = nullptr;  // of wgmma
  // Where the factors of products are kept that change before a sum takes them in: by PTX instruction.
  std::map<u32, std::array<u32, 2>> kept_factors;

  std::span<const std::string_view> modifiers() const { return ptx::slice(function.modifiers, current->modifiers); }
  std::span<const ptx::Operand> operands() const { return ptx::slice(function.operands, current->operands); }
  std::span<const ptx::Operand> parts(const ptx::Operand& operand) const {
    return ptx::slice(function.operands, operand.parts);
  }

  // Where the current instruction stands in the source, as far as Origin has that.
  Origin place() const;
  // `add.s32` as written.
  std::string spelled() const;
  // Refuses the current instruction, or the kernel where it is none that is to blame.
  [[noreturn]] void refuse(const Message& why) const;
  // The same, with the current instruction among the parameters.
  [[noreturn]] void refuse(const char* code, std::vector<MessageParameter> parameters = {}) const;
  // Refuses the current instruction for one of its modifiers.
  [[noreturn]] void refuse_part(std::string_view modifier) const;
  // Refuses a kernel that needs more than any GPU has.
  [[noreturn]] void refuse_size(const Message& why) const;

  // Places in the register file ----------------------------------------------------------------------------
  u32 reserve(u32 width);  // 0: a predicate
  u32 constant(u32 width, u64 bits);
  u32 width_of(const ptx::Operand& operand) const;  // of a register; 0: a predicate
  // Where an operand of that width stands: a register, a special register, or a constant.
  u32 source(const ptx::Operand& operand, u32 width);
  u32 predicate(const ptx::Operand& operand);
  // Where a result goes; what is written to the sink `_` goes to a place that nobody reads.
  u32 destination(const ptx::Operand& operand, u32 width);
  u32 predicate_destination(const ptx::Operand& operand);
  u32 special(const ptx::Operand& operand, u32 width);
  u32 carry();  // the condition code that add.cc and its kind write

  // Addresses ----------------------------------------------------------------------------------------------
  // Of a symbol in its own space.
  u64 address_of(ptx::SymbolKind kind, u32 index) const;
  // The space where it stands: what is passed to and from device functions is local memory.
  ptx::Space space_of(ptx::SymbolKind kind, u32 index) const;
  // Whether its address is an offset from the frame pointer.
  bool in_frame(ptx::SymbolKind kind, u32 index) const {
    return recursive && space_of(kind, index) == ptx::Space::kLocal;
  }
  u32 frame_pointer();

  std::vector<u32> register_offset;   // by ptx register index
  std::vector<u64> parameter_offset;  // by parameter
  std::vector<u64> return_offset;     // by what it returns
  std::vector<u64> variable_address;  // the function's own
  u64 reserved_shared = 0;            // %reserved_smem_offset_1: what CUDA's libraries have of shared memory
  std::vector<u64> global_address;    // the module's

  // Registers with an address, converted to the width of its space: by ptx register, as long as it keeps its
  // value and no other code can come here.
  std::map<u32, u32> converted_addresses;
  // Before each PTX instruction; `joined`: control may come from elsewhere, or from a call.
  void next_instruction(const ptx::Instruction& instruction, bool joined);

  // Instructions -------------------------------------------------------------------------------------------
  Instruction& emit(const std::string& name, Kind kind = Kind::kStraight);
  // One that the PTX does not have: no instruction that is counted.
  Instruction& emit_hidden(const std::string& name);

 private:
  void refuse_component(const ptx::Operand& operand) const;
  u32 sink();
  // A special register that does not change while a block runs.
  u32 fixed_special(const ptx::Operand& operand);

  std::map<std::pair<u32, u64>, u32> constants_;
  std::vector<u32> written_;  // ptx registers, by the current instruction
  u32 carry_ = kNoRegister;
  u32 sink_ = kNoRegister;  // wide enough for any result
};

// One PTX instruction; appends what it becomes.
void lower_instruction(Builder& builder);
// Where the module's variables stand: the same for all its kernels. `shared` gets the bytes of those in shared
// memory; dynamic shared memory stands at address 0 until that of all functions is known.
struct ModuleLayout {
  std::vector<u64> address;  // by variable
  u64 shared = 0;
  u64 globals = 0;
  u64 constants = 0;
  u64 managed = 0;
};
ModuleLayout lay_out(const ptx::Module& module, const VariableBases& bases);
// Leaves shared memory to those of its variables that these functions name: a kernel has no others.
void place_shared(const ptx::Module& module, const std::vector<u32>& functions, ModuleLayout& layout);
// The module's memory as it is before its first launch.
std::shared_ptr<ModuleMemory> initial_memory(const ptx::Module& module, const ModuleLayout& layout,
                                             const VariableBases& bases);
// Places a function's variables and parameters; its shared and local memory begin at these ends, and move them.
void place_variables(Builder& builder, u64& shared, u64& local);
u64 size_of(const ptx::Variable& variable);
u64 alignment_of(const ptx::Variable& variable);
bool is_dynamic_shared(const ptx::Variable& variable);
// Gives code of libraries that is called from one line of the user's that line.
void name_callers(Program& program);
// Ranks the basic blocks of the code from `first` on, so that diverged lanes meet again as early as they can.
void order_blocks(Program& program, u32 first);

}  // namespace flashpath::lower
