// Writes what ran when, on the clock of the model, as Chrome's trace viewer and Perfetto read it.
#pragma once

#include <vector>

#include "ground/settings.h"
#include "work/operation.h"

namespace flashpath::runtime {

// To the file that the settings name; false where it cannot be written.
bool write_timeline(const std::vector<OperationRef>& history, const Settings& settings);

}  // namespace flashpath::runtime
