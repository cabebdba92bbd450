// Where variables stand, and what is in them before the kernel starts.
#include <algorithm>
#include <cstring>

#include "lower/builder.h"

namespace flashpath::lower {
namespace {

constexpr u64 kMostParameterBytes = 32764;  // of a kernel, since sm_70

u64 take(u64& end, const ptx::Variable& variable) {
  const u64 alignment = std::max<u64>(1, alignment_of(variable));
  end = (end + alignment - 1) / alignment * alignment;
  const u64 place = end;
  end += size_of(variable);
  return place;
}

u64 address_of(const ModuleLayout& layout, ptx::Symbol symbol) {
  if (symbol.kind == ptx::SymbolKind::kFunction) return kFunctionsBase + 16 * u64(symbol.index);
  return layout.address[symbol.index];
}

// Whether it is kept apart, where host and devices see it at one address.
bool is_apart(const ptx::Variable& variable, const VariableBases& bases) {
  const auto& attributes = variable.attributes;
  return bases.managed != 0 && std::find(attributes.begin(), attributes.end(), ".managed") != attributes.end();
}

void initialise(const ModuleLayout& layout, const ptx::Variable& variable, std::vector<std::byte>& memory, u64 place) {
  const u32 width = bytes_of(variable.type);
  for (const ptx::Value& value : variable.initialiser) {
    u64 bits = value.bits;
    if (value.kind == ptx::ValueKind::kSymbol) {
      bits += address_of(layout, value.symbol);
      if (value.mask) bits = (bits & value.mask) >> __builtin_ctzll(value.mask);
    }
    std::memcpy(memory.data() + place + value.element * width, &bits, std::min<u32>(width, sizeof bits));
  }
}

void refuse_register(const Builder& builder, const ptx::Parameter& parameter) {
  if (parameter.register_index == ptx::kNone) return;
  builder.refuse({"vgpu.ptx.values-in-registers", {{"function", std::string(builder.function.name)}}});
}

}  // namespace

u64 alignment_of(const ptx::Variable& variable) {
  return variable.alignment ? variable.alignment : u64(bytes_of(variable.type)) * variable.vector_width;
}

u64 size_of(const ptx::Variable& variable) {
  u64 count = variable.vector_width;
  for (const u64 extent : variable.dimensions) count *= extent;
  return count * bytes_of(variable.type);
}

bool is_dynamic_shared(const ptx::Variable& variable) {
  return variable.space == ptx::Space::kShared && !variable.dimensions.empty() && variable.dimensions[0] == 0;
}

ModuleLayout lay_out(const ptx::Module& module, const VariableBases& bases) {
  ModuleLayout layout;
  for (const ptx::Variable& variable : module.variables) {
    u64 address = 0;
    switch (variable.space) {
      case ptx::Space::kShared: address = is_dynamic_shared(variable) ? 0 : take(layout.shared, variable); break;
      case ptx::Space::kConst: address = bases.constants + take(layout.constants, variable); break;
      default:
        address = is_apart(variable, bases) ? bases.managed + take(layout.managed, variable)
                                            : bases.globals + take(layout.globals, variable);
        break;
    }
    layout.address.push_back(address);
  }
  return layout;
}

void place_shared(const ptx::Module& module, const std::vector<u32>& functions, ModuleLayout& layout) {
  std::vector<bool> is_named(module.variables.size());
  for (const u32 function : functions) {
    for (const ptx::Operand& operand : module.functions[function].operands) {
      if (operand.kind != ptx::OperandKind::kSymbol || operand.symbol != ptx::SymbolKind::kGlobal) continue;
      is_named[operand.index] = true;
    }
  }
  for (const ptx::Variable& variable : module.variables) {
    for (const ptx::Value& value : variable.initialiser) {  // its address is in memory already
      const bool is_shared = value.kind == ptx::ValueKind::kSymbol && value.symbol.kind == ptx::SymbolKind::kGlobal &&
                             module.variables[value.symbol.index].space == ptx::Space::kShared;
      if (is_shared) return;
    }
  }
  layout.shared = 0;
  for (std::size_t k = 0; k < module.variables.size(); ++k) {
    const ptx::Variable& variable = module.variables[k];
    if (variable.space != ptx::Space::kShared || is_dynamic_shared(variable)) continue;
    layout.address[k] = is_named[k] ? take(layout.shared, variable) : 0;
  }
}

std::shared_ptr<ModuleMemory> initial_memory(const ptx::Module& module, const ModuleLayout& layout,
                                             const VariableBases& bases) {
  auto memory = std::make_shared<ModuleMemory>();
  memory->bases = bases;
  memory->globals.resize(layout.globals);
  memory->constants.resize(layout.constants);
  memory->managed.resize(layout.managed);
  for (std::size_t k = 0; k < module.variables.size(); ++k) {
    const ptx::Variable& variable = module.variables[k];
    if (is_apart(variable, bases)) {
      initialise(layout, variable, memory->managed, layout.address[k] - bases.managed);
    } else if (variable.space == ptx::Space::kGlobal) {
      initialise(layout, variable, memory->globals, layout.address[k] - bases.globals);
    } else if (variable.space == ptx::Space::kConst) {
      initialise(layout, variable, memory->constants, layout.address[k] - bases.constants);
    }
  }
  return memory;
}

void place_variables(Builder& builder, u64& shared, u64& local) {
  const ptx::Function& function = builder.function;
  for (const ptx::Variable& variable : function.variables) {
    switch (variable.space) {
      case ptx::Space::kShared:
        builder.variable_address.push_back(is_dynamic_shared(variable) ? 0 : take(shared, variable));
        break;
      case ptx::Space::kGlobal:
      case ptx::Space::kConst:
        builder.refuse({"vgpu.ptx.variable-in-body",
                        {{"variable", std::string(variable.name)}, {"function", std::string(function.name)}}});
      default:  // local memory, and what is passed to a function: as private
        builder.variable_address.push_back(take(local, variable));
        break;
    }
  }
  u64 parameters = 0;  // a kernel's are read from what the launch was given
  u64& end = function.is_entry ? parameters : local;
  for (const ptx::Parameter& parameter : function.parameters) {
    refuse_register(builder, parameter);
    builder.parameter_offset.push_back(take(end, parameter.variable));
  }
  for (const ptx::Parameter& result : function.returns) {
    refuse_register(builder, result);
    builder.return_offset.push_back(take(local, result.variable));
  }
  if (parameters > kMostParameterBytes) {
    builder.refuse_size({"vgpu.ptx.parameter-bytes", {{"bytes", parameters}, {"most", kMostParameterBytes}}});
  }
  if (function.is_entry) builder.program.parameter_bytes = static_cast<u32>(parameters);
}

}  // namespace flashpath::lower
