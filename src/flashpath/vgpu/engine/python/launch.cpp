// Binds programs and launches.
#include "python/launch.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <tuple>

#include "exec/schedule/launch.h"
#include "lower/error.h"
#include "lower/lower.h"
#include "machine/fault.h"
#include "messages/kernel_name.h"
#include "observe/arithmetic.h"
#include "observe/footprint.h"
#include "program/operations.h"
#include "program/tensor_map_encoding.h"
#include "ptx/parser.h"

namespace nb = nanobind;

namespace flashpath::python {
namespace {

using Extent = std::array<u32, 3>;
// Device address, size, host address, writable, initialised.
using SegmentRow = std::tuple<u64, u64, u64, bool, bool>;
using TraceRow = std::tuple<s64, s64, u32>;           // block, warp (-1: any), accesses per instruction
using PartyRow = std::tuple<std::string, u32, Extent, Extent>;  // action, instruction, block, thread
// Kind, message as JSON, where it is, the other party, how often it was met.
using FindingRow = std::tuple<std::string, std::string, PartyRow, std::optional<PartyRow>, u64>;
using AccessRow = std::tuple<u32, const char*, Extent, u32, u32, u32, std::array<u64, 32>>;
using CountTable = nb::ndarray<nb::numpy, const u64, nb::ndim<2>, nb::c_contig>;

// How a launch is run and what is watched: flashpath.vgpu.options says what each means.
struct Options {
  bool exact = true;
  bool count = false;
  bool sanitize = false;
  bool accessed = false;
  u64 seed = 0;
  u64 budget = 0;
  u32 threads = 1;
  u32 multiprocessors = 1;
  std::array<u32, 2> capability{8, 0};  // of the GPU that is played
  u64 resident_blocks = 0;
  bool cooperative = false;
  std::optional<Extent> cluster;
  bool runs_to_end = false;
  TraceRow trace{-1, -1, 0};
};

// What a launch may change of its module's memory.
struct ModuleState {
  std::vector<std::byte> globals;
  program::Heap::State heap;
};

struct Result {
  observe::Counters counters;
  observe::Findings findings;
  observe::AccessedBytes accessed;
  observe::Footprint footprint;
  std::string fault_kind;  // empty: it ran to its end
  std::string fault_message;  // as JSON
  u32 fault_instruction = 0;
  Extent fault_block{};
  Extent fault_thread{};
};

Result launch(Program& program, Extent grid, Extent block, u32 dynamic_shared, nb::bytes parameters,
              const std::vector<SegmentRow>& segments, const Options& options, const nb::callable& show) {
  machine::Launch launch;
  Result result;
  launch.program = &program;
  std::copy(grid.begin(), grid.end(), launch.grid);
  std::copy(block.begin(), block.end(), launch.block);
  launch.dynamic_shared = dynamic_shared;
  launch.parameters.resize(std::max<std::size_t>(parameters.size(), program.parameter_bytes));
  std::memcpy(launch.parameters.data(), parameters.data(), parameters.size());
  launch.budget = options.budget;
  launch.threads = options.threads;
  launch.multiprocessors = options.multiprocessors;
  launch.numerics = {options.exact, machine::generation_of(options.capability[0], options.capability[1])};
  launch.seed = options.seed;
  launch.resident_blocks = options.resident_blocks;
  launch.cooperative = options.cooperative;
  launch.explicit_cluster = program.explicit_cluster || options.cluster.has_value();
  const Extent own{program.cluster[0], program.cluster[1], program.cluster[2]};
  const Extent cluster = options.cluster.value_or(own);
  for (std::size_t k = 0; k < cluster.size(); ++k) launch.cluster[k] = std::max(1u, cluster[k]);
  launch.runs_to_end = options.runs_to_end;
  if (options.sanitize) launch.findings = &result.findings;
  if (options.accessed) launch.accessed = &result.accessed;
  exec::map_module(launch);
  const observe::Ranges nothing;
  for (const auto& [base, size, host, writable, initialised] : segments) {
    launch.segments.push_back(
        {base, size, reinterpret_cast<std::byte*>(host), writable, initialised ? nullptr : &nothing});
  }
  exec::prepare_counting(launch, options.count ? &result.counters : nullptr);
  if (options.count) {
    const auto [traced_block, traced_warp, accesses] = options.trace;
    result.counters.trace.prepare({traced_block, traced_warp, accesses}, program.code.size());
  }
  launch.interrupted = [] {
    const nb::gil_scoped_acquire gil;
    return PyErr_CheckSignals() != 0;
  };
  launch.print = [&](std::string_view text) {
    const nb::gil_scoped_acquire gil;
    show(nb::bytes(text.data(), text.size()));
  };
  try {
    const nb::gil_scoped_release released;
    exec::run(launch);
  } catch (const machine::Fault& fault) {
    if (fault.kind == "interrupted") throw nb::python_error();
    result.fault_kind = fault.kind;
    result.fault_message = fault.message.json();
    result.fault_instruction = fault.instruction;
    std::copy(std::begin(fault.block), std::end(fault.block), result.fault_block.begin());
    std::copy(std::begin(fault.thread), std::end(fault.thread), result.fault_thread.begin());
  }
  result.footprint = observe::footprint_of(launch, result.counters);
  result.counters.trace.settle();
  return result;
}

PartyRow row_of(const observe::Party& party) { return {party.action, party.instruction, party.block, party.thread}; }

std::vector<FindingRow> rows_of(const observe::Findings& findings) {
  std::vector<FindingRow> rows;
  for (const observe::Finding& finding : findings.all()) {
    std::optional<PartyRow> other;
    if (finding.other) other = row_of(*finding.other);
    rows.emplace_back(finding.kind, finding.message.json(), row_of(finding.at), other, finding.count);
  }
  return rows;
}

std::vector<std::pair<u64, u64>> rows_of(const observe::Ranges& ranges) {
  return {ranges.all().begin(), ranges.all().end()};
}

// What it is made of travels as the arguments of the Python exception; the problem as JSON.
void raise_lower_error(const std::exception_ptr& pointer, void* type) {
  try {
    std::rethrow_exception(pointer);
  } catch (const lower::Error& error) {
    const nb::tuple arguments = nb::make_tuple(error.code, error.problem.json(), error.ptx_line, error.place);
    PyErr_SetObject(static_cast<PyObject*>(type), arguments.ptr());
  }
}

}  // namespace

void bind_launch(nb::module_& m) {
  const nb::object lower_error =
      nb::steal(PyErr_NewException("flashpath.vgpu._engine.LowerError", PyExc_Exception, nullptr));
  m.attr("LowerError") = lower_error;
  nb::register_exception_translator(raise_lower_error, lower_error.ptr());

  nb::class_<lower::LoadedModule>(m, "Module")
      .def_static(
          "load",
          [](const std::string& ptx) {
            const nb::gil_scoped_release released;
            return lower::load(ptx::parse(ptx));
          },
          "Parse PTX and set up the variables that its kernels share.")
      .def(
          "kernel",
          [](const lower::LoadedModule& module, const std::string& kernel, const std::vector<u32>& library_files) {
            const nb::gil_scoped_release released;
            return lower::lower(module, kernel, library_files);
          },
          nb::arg("name"), nb::arg("library_files"),
          "Make one of its kernels ready to run; code from these files is placed where it is called.")
      .def_prop_ro("files", [](const lower::LoadedModule& module) {
        std::vector<std::pair<u32, std::string>> files;
        for (const ptx::File& file : module.module.files) files.emplace_back(file.index, file.path);
        return files;
      });

  nb::class_<ModuleState>(m, "ModuleState");

  nb::class_<Program>(m, "Program")
      .def(
          "save",
          [](const Program& program) {
            return ModuleState{program.memory->globals, program.memory->heap.save()};
          },
          "The variables and the heap of its module as they are.")
      .def(
          "restore",
          [](const Program& program, const ModuleState& state) {
            program.memory->globals = state.globals;
            program.memory->heap.restore(state.heap);
          },
          "Make them what they were.")
      .def_ro("name", &Program::name)
      .def_ro("parameter_bytes", &Program::parameter_bytes)
      .def_ro("shared_bytes", &Program::shared_bytes)
      .def_ro("local_bytes", &Program::local_bytes)
      .def_ro("max_threads", &Program::max_threads)
      .def_prop_ro("cluster", [](const Program& program) {
        return Extent{program.cluster[0], program.cluster[1], program.cluster[2]};
      })
      .def_ro("order_matters", &Program::order_matters)
      .def_ro("files", &Program::files)
      .def_prop_ro("operations",
                   [](const Program& program) {
                     nb::list operations;
                     for (const Origin& origin : program.origins) operations.append(origin.operation);
                     return operations;
                   })
      .def_prop_ro("origins",
                   [](const Program& program) {
                     std::vector<std::tuple<std::string, u32, u32, u32, u32, u32>> rows;
                     for (const Origin& origin : program.origins) {
                       rows.emplace_back(origin.text, origin.ptx_line, origin.file, origin.line, origin.library_file,
                                         origin.library_line);
                     }
                     return rows;
                   })
      .def("launch", &launch, nb::arg("grid"), nb::arg("block"), nb::arg("dynamic_shared"), nb::arg("parameters"),
           nb::arg("segments"), nb::arg("options"), nb::arg("show"));

  nb::class_<Options>(m, "Options")
      .def(nb::init<>())
      .def_rw("exact", &Options::exact)
      .def_rw("count", &Options::count)
      .def_rw("sanitize", &Options::sanitize)
      .def_rw("accessed", &Options::accessed)
      .def_rw("seed", &Options::seed)
      .def_rw("budget", &Options::budget)
      .def_rw("threads", &Options::threads)
      .def_rw("multiprocessors", &Options::multiprocessors)
      .def_rw("capability", &Options::capability)
      .def_rw("resident_blocks", &Options::resident_blocks)
      .def_rw("cooperative", &Options::cooperative)
      .def_rw("cluster", &Options::cluster, nb::arg("cluster").none())
      .def_rw("runs_to_end", &Options::runs_to_end)
      .def_rw("trace", &Options::trace);

  nb::class_<Result>(m, "LaunchResult")
      .def_ro("fault_kind", &Result::fault_kind)
      .def_ro("fault_message", &Result::fault_message)
      .def_ro("fault_instruction", &Result::fault_instruction)
      .def_ro("fault_block", &Result::fault_block)
      .def_ro("fault_thread", &Result::fault_thread)
      .def_prop_ro("memory_sectors", [](const Result& result) { return result.footprint.memory_sectors(); })
      .def_prop_ro("global_allocated", [](const Result& result) { return result.footprint.allocated; })
      .def_prop_ro("global_touched", [](const Result& result) { return result.footprint.touched; })
      .def_prop_ro("findings", [](const Result& result) { return rows_of(result.findings); })
      .def_prop_ro("read", [](const Result& result) { return rows_of(result.accessed.read); })
      .def_prop_ro("written", [](const Result& result) { return rows_of(result.accessed.written); })
      .def_prop_ro("strong", [](const Result& result) { return rows_of(result.accessed.strong); })
      .def_prop_ro("strong_read", [](const Result& result) { return rows_of(result.accessed.strong_read); })
      .def_prop_ro("counter_names", [](const Result&) { return observe::kCounterNames; })
      .def_prop_ro(
          "instructions",
          [](const Result& result) {
            const auto& rows = result.counters.instructions;
            return CountTable(rows.data(), {rows.size(), observe::kCounterNames.size()});
          },
          nb::rv_policy::reference_internal)
      .def_prop_ro("accesses",
                   [](const Result& result) {
                     std::vector<AccessRow> rows;
                     for (const observe::Access& a : result.counters.trace.accesses) {
                       const char* space = observe::kSpaceNames[static_cast<u32>(a.space)];
                       rows.emplace_back(a.instruction, space, a.block, a.warp, a.lanes, a.bytes, a.address);
                     }
                     return rows;
                   });

  m.def(
      "arithmetic",
      [](const std::string& opcode) {
        const observe::Arithmetic done = observe::arithmetic_of(opcode);
        return std::tuple(done.element, done.per_thread, done.per_warp);
      },
      "The type, the operations of a thread and those of a warp's tensor core, of an opcode with its modifiers.");
  m.def(
      "tensor_map",
      [](u32 type, u64 address, const std::vector<u64>& extents, const std::vector<u64>& strides,
         const std::vector<u32>& box, const std::vector<u32>& steps, const std::vector<s32>& lower,
         const std::vector<s32>& upper, const std::array<u32, 4>& modes) {
        const u32 rank = static_cast<u32>(extents.size());
        const bool is_im2col = !lower.empty();
        const bool fits = strides.size() + 1 == rank && steps.size() == rank && box.size() == (is_im2col ? 2 : rank) &&
                          lower.size() == upper.size() && (!is_im2col || lower.size() + 2 == rank);
        if (!fits) return std::tuple(std::string("vgpu.map-rank"), u32(0), nb::bytes("", 0));
        program::TensorMapRequest request;
        request.type = type;
        request.rank = rank;
        request.address = address;
        request.extents = extents.data();
        request.strides = strides.data();
        request.box = is_im2col ? nullptr : box.data();
        request.steps = steps.data();
        request.lower = lower.data();
        request.upper = upper.data();
        if (is_im2col) {
          request.channels = box[0];
          request.pixels = box[1];
        }
        request.interleave = modes[0];
        request.swizzle = modes[1];
        request.promotion = modes[2];
        request.fill = modes[3];
        program::TensorMap map;
        u32 dimension = 0;
        const auto problem = program::encode(request, map, dimension);
        return std::tuple(std::string(program::name_of(problem)), dimension,
                          nb::bytes(reinterpret_cast<const char*>(&map), sizeof map));
      },
      "A tensor map's 128 bytes, and what is wrong with it: a code, empty where nothing is, and the dimension.");
  m.def("known_instructions", [] { return program::Registry::get().names(); });
  m.def("known_opcodes", &lower::known_opcodes);
  m.def("kernel_name", &kernel_name);
}

}  // namespace flashpath::python
