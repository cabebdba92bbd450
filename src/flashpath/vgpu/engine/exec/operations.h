// The groups of operations that exec/ knows: each adds its own to the registry.
#pragma once

#include "exec/rooms.h"
#include "program/operations.h"

namespace flashpath::exec {

void register_integer(Registry& registry);
void register_carry(Registry& registry);
void register_video(Registry& registry);
void register_logic(Registry& registry);
void register_moves(Registry& registry);
void register_float(Registry& registry);
void register_approximate(Registry& registry);
void register_quotient_sums(Registry& registry);
void register_half(Registry& registry);
void register_compare(Registry& registry);
void register_convert(Registry& registry);
void register_convert_floats(Registry& registry);
void register_memory(Registry& registry);
void register_atomics(Registry& registry);
void register_async_copies(Registry& registry);
void register_mbarrier(Registry& registry);
void register_bulk_groups(Registry& registry);
void register_bulk_operations(Registry& registry);
void register_tensor_maps(Registry& registry);
void register_warp_operations(Registry& registry);
void register_cluster_operations(Registry& registry);
void register_matrix_loads(Registry& registry);
void register_mma(Registry& registry);
void register_mma_of_quad_pairs(Registry& registry);
void register_wmma(Registry& registry);
void register_wgmma(Registry& registry);
void register_warpgroups(Registry& registry);
void register_provided(Registry& registry);

}  // namespace flashpath::exec
