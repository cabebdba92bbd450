// Writes what ran when, on the clock of the model, as Chrome's trace viewer and Perfetto read it.
#pragma once

#include <string>
#include <vector>

#include "ground/settings.h"
#include "work/operation.h"

namespace flashpath::runtime {

void write_timeline(const std::string& path, const std::vector<OperationRef>& history, const Gpu& gpu);

}  // namespace flashpath::runtime
