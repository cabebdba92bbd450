// Where variables stand, and what is in them before the kernel starts.
#include <algorithm>
#include <cstring>

#include "lower/builder.h"

namespace flashpath::lower {
namespace {

u64 elements(const ptx::Variable& variable) {
  u64 count = variable.vector_width;
  for (const u64 extent : variable.dimensions) count *= extent;
  return count;
}

u64 size_of(const ptx::Variable& variable) { return elements(variable) * bytes_of(variable.type); }

u64 alignment_of(const ptx::Variable& variable) {
  return variable.alignment ? variable.alignment : u64(bytes_of(variable.type)) * variable.vector_width;
}

u64 take(u64& end, const ptx::Variable& variable) {
  const u64 alignment = std::max<u64>(1, alignment_of(variable));
  end = (end + alignment - 1) / alignment * alignment;
  const u64 place = end;
  end += size_of(variable);
  return place;
}

bool is_dynamic_shared(const ptx::Variable& variable) {
  return variable.space == ptx::Space::kShared && !variable.dimensions.empty() && variable.dimensions[0] == 0;
}

void initialise(Builder& builder, const ptx::Variable& variable, std::vector<std::byte>& memory, u64 place) {
  const u32 width = bytes_of(variable.type);
  for (const ptx::Value& value : variable.initialiser) {
    u64 bits = value.bits;
    if (value.kind == ptx::ValueKind::kSymbol) {
      bits += builder.address_of(value.symbol.kind, value.symbol.index);
      if (value.mask) bits = (bits & value.mask) >> __builtin_ctzll(value.mask);
    }
    std::memcpy(memory.data() + place + value.element * width, &bits, width);
  }
}

}  // namespace

void place_variables(Builder& builder) {
  const ptx::Module& module = builder.module;
  Program& program = builder.program;
  u64 shared = 0;
  u64 local = 0;
  u64 globals = 0;
  u64 constants = 0;
  const auto place = [&](const ptx::Variable& variable) -> u64 {
    switch (variable.space) {
      case ptx::Space::kShared: return is_dynamic_shared(variable) ? 0 : take(shared, variable);
      case ptx::Space::kLocal: return take(local, variable);
      case ptx::Space::kConst: return kConstantsBase + take(constants, variable);
      case ptx::Space::kGlobal: return kGlobalsBase + take(globals, variable);
      default: return take(local, variable);  // a .param of a call: as private as local memory
    }
  };
  for (const ptx::Variable& variable : module.variables) builder.global_address.push_back(place(variable));
  for (const ptx::Variable& variable : builder.function.variables) builder.variable_address.push_back(place(variable));
  // Dynamic shared memory begins where the static ends, aligned for any access.
  const u64 dynamic = (shared + 15) / 16 * 16;
  for (std::size_t k = 0; k < module.variables.size(); ++k) {
    if (is_dynamic_shared(module.variables[k])) builder.global_address[k] = dynamic;
  }
  program.shared_bytes = static_cast<u32>(shared);
  program.dynamic_shared_offset = static_cast<u32>(dynamic);
  program.local_bytes = static_cast<u32>(local);
  program.globals.resize(globals);
  program.constants_memory.resize(constants);
  for (std::size_t k = 0; k < module.variables.size(); ++k) {
    const ptx::Variable& variable = module.variables[k];
    if (variable.space == ptx::Space::kGlobal) {
      initialise(builder, variable, program.globals, builder.global_address[k] - kGlobalsBase);
    } else if (variable.space == ptx::Space::kConst) {
      initialise(builder, variable, program.constants_memory, builder.global_address[k] - kConstantsBase);
    }
  }
  u64 end = 0;
  for (const ptx::Parameter& parameter : builder.function.parameters) {
    builder.parameter_offset.push_back(take(end, parameter.variable));
  }
  program.parameter_bytes = static_cast<u32>(end);
}

}  // namespace flashpath::lower
