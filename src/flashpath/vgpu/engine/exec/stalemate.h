// Who waits where: what is said when nobody can go on, or when a launch takes too long.
#pragma once

#include <string>
#include <vector>

#include "exec/block.h"
#include "exec/fault.h"

namespace flashpath::exec {

// The living threads of some blocks in groups: how many are where, what they wait for, and one of each as example.
std::string where_threads_are(const std::vector<const Block*>& blocks);

// A fault at the first thread that waits: `head`, and where they all are.
Fault stalemate(const std::vector<const Block*>& blocks, const std::string& head);

}  // namespace flashpath::exec
