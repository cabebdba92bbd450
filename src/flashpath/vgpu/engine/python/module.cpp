#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <string_view>

#include "host/cpu_features.h"
#include "ptx/parser.h"
#include "ptx/print.h"
#include "ptx/words.h"
#include "python/launch.h"

namespace nb = nanobind;
using flashpath::host::Amx;

namespace {

const char* name(Amx verdict) {
  switch (verdict) {
    case Amx::kAbsent:
      return "absent";
    case Amx::kWorks:
      return "works";
    case Amx::kTraps:
      break;
  }
  return "traps";
}

namespace ptx = flashpath::ptx;

// Bytes rather than str: what is not UTF-8 must come to the parser, and be refused there.
ptx::Module parse(nb::bytes text) {
  const std::string_view view(text.c_str(), text.size());
  const nb::gil_scoped_release release;
  return ptx::parse(view);
}

nb::str text_of(std::string_view text) { return nb::str(text.data(), text.size()); }

nb::list parameter_types(const std::vector<ptx::Parameter>& parameters) {
  nb::list types;
  for (const ptx::Parameter& parameter : parameters) {
    const ptx::Variable& variable = parameter.variable;
    nb::list dimensions;
    for (uint64_t size : variable.dimensions) dimensions.append(size);
    types.append(nb::make_tuple(text_of(variable.name), text_of(ptx::name_of(variable.type)), nb::tuple(dimensions)));
  }
  return types;
}

nb::dict summary(const ptx::Function& function) {
  std::map<std::string, int> opcodes;
  for (const ptx::Instruction& instruction : function.instructions) ++opcodes[ptx::full_opcode(function, instruction)];
  nb::dict counts;
  for (const auto& [opcode, count] : opcodes) counts[text_of(opcode)] = count;
  nb::dict out;
  out["name"] = text_of(function.name);
  out["is_entry"] = function.is_entry;
  out["is_declaration"] = function.is_declaration;
  out["parameters"] = parameter_types(function.parameters);
  out["returns"] = parameter_types(function.returns);
  out["registers"] = function.registers.size();
  out["instructions"] = function.instructions.size();
  out["labels"] = function.labels.size();
  out["opcodes"] = counts;
  return out;
}

nb::dict parse_summary(nb::bytes text) {
  const ptx::Module module = parse(text);
  nb::list target, variables, functions;
  for (std::string_view word : module.target) target.append(text_of(word));
  for (const ptx::Variable& variable : module.variables) variables.append(text_of(variable.name));
  for (const ptx::Function& function : module.functions) functions.append(summary(function));
  nb::dict out;
  out["version"] = nb::make_tuple(module.version_major, module.version_minor);
  out["target"] = target;
  out["address_size"] = module.address_size;
  out["variables"] = variables;
  out["functions"] = functions;
  return out;
}

nb::bytes dump(nb::bytes text) {
  const std::string printed = ptx::print(parse(text));
  return nb::bytes(printed.data(), printed.size());
}

// The line and column travel beside the problem, as the arguments of the Python exception.
void raise_parse_error(const std::exception_ptr& pointer, void* type) {
  try {
    std::rethrow_exception(pointer);
  } catch (const ptx::Error& error) {
    const nb::tuple arguments = nb::make_tuple(error.problem.json(), error.at.line, error.at.column);
    PyErr_SetObject(static_cast<PyObject*>(type), arguments.ptr());
  }
}

}  // namespace

NB_MODULE(FLASHPATH_MODULE, m) {
#if defined(FLASHPATH_NEEDS_V3)
  // Before any other code of this engine runs.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("bmi2")) {
    throw nb::import_error("vgpu.engine-for-newer-processor");
  }
#endif
  // Triton keeps compiled kernels, and so their programs, until the process ends: that is no leak.
  nb::set_leak_warnings(false);
  m.doc() = "The virtual GPU's engine.";

  m.def("vector_extensions", &flashpath::host::vector_extensions,
        "Vector extensions that processor and operating system offer, as (name, present) pairs.");
  m.def(
      "probe_amx", [] { return name(flashpath::host::probe_amx()); },
      "Whether AMX is absent, works, or is advertised and traps.");

  const nb::object parse_error = nb::steal(PyErr_NewException("flashpath.vgpu._engine.ParseError", PyExc_Exception, nullptr));
  m.attr("ParseError") = parse_error;
  nb::register_exception_translator(raise_parse_error, parse_error.ptr());
  m.def("parse_summary", &parse_summary, "What a PTX module has in it.");
  flashpath::python::bind_launch(m);
  m.def("dump", &dump, "A PTX module in its canonical form.");
}
