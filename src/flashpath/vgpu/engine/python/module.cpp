#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "host/cpu_features.h"

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

}  // namespace

NB_MODULE(_engine, m) {
  m.doc() = "The virtual GPU's engine.";

  m.def("vector_extensions", &flashpath::host::vector_extensions,
        "Vector extensions that processor and operating system offer, as (name, present) pairs.");
  m.def(
      "probe_amx", [] { return name(flashpath::host::probe_amx()); },
      "Whether AMX is absent, works, or is advertised and traps.");
}
