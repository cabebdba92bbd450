#pragma once

#include <nanobind/nanobind.h>

namespace flashpath::python {

void bind_launch(nanobind::module_& m);

}  // namespace flashpath::python
