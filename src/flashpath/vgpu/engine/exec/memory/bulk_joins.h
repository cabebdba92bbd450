// How bulk reductions join what arrives with what is there.
#pragma once

#include "exec/rooms.h"
#include "machine/bulk_copies.h"
#include "program/bulk_flags.h"
#include "program/tensor_map.h"

namespace flashpath::exec {

// nullptr: elements of that type cannot be joined so.
Joining joining_of(BulkJoin join, TensorType type, bool is_shared);

}  // namespace flashpath::exec
