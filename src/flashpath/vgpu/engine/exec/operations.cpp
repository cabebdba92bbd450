#include "exec/operations.h"

namespace flashpath::exec {
namespace {

Registry all_operations() {
  Registry made;
  register_integer(made);
  register_carry(made);
  register_video(made);
  register_logic(made);
  register_moves(made);
  register_float(made);
  register_approximate(made);
  register_quotient_sums(made);
  register_half(made);
  register_compare(made);
  register_convert(made);
  register_convert_floats(made);
  register_memory(made);
  register_atomics(made);
  register_async_copies(made);
  register_mbarrier(made);
  register_bulk_groups(made);
  register_bulk_operations(made);
  register_tensor_maps(made);
  register_warp_operations(made);
  register_cluster_operations(made);
  register_matrix_loads(made);
  register_mma(made);
  register_mma_of_quad_pairs(made);
  register_wmma(made);
  register_wgmma(made);
  register_warpgroups(made);
  register_provided(made);
  return made;
}

}  // namespace
}  // namespace flashpath::exec

const flashpath::program::Registry& flashpath::program::Registry::get() {
  // Never destroyed, as no table of the engine is: kernels may still run while the program ends.
  static const Registry& registry = *new Registry(exec::all_operations());
  return registry;
}
