// Addresses in the shared memory of other blocks, and the lane that a warp elects.
#include <bit>

#include "exec/arithmetic/elementwise.h"
#include "exec/operations.h"
#include "machine/block.h"
#include "sanitize/sanitizer.h"

namespace flashpath::exec {
namespace {

// Generic addresses are those of shared memory, in a window.
template <class T>
void run_map_address(Warp& warp, const Instruction& i) {
  const T* address = lanes<T>(warp, i.a[0]);
  const u32* rank = lanes<u32>(warp, i.b[0]);
  constexpr T kRank = T(kMostBlocksOfCluster * 2 - 1) << kRankShift;
  assign<T>(warp, i, [=](int lane) { return (address[lane] & ~kRank) | T(rank[lane] + 1) << kRankShift; });
}

template <class T>
void run_rank(Warp& warp, const Instruction& i) {
  const T* address = lanes<T>(warp, i.a[0]);
  const u32 own = warp.block->rank;
  assign<u32>(warp, i, [=](int lane) {
    const u32 rank = static_cast<u32>(address[lane]) >> kRankShift;
    return rank == 0 ? own : rank - 1;
  });
}

// Any member may be elected: it is the first one that lives.
void run_elect(Warp& warp, const Instruction& i) {
  if (warp.watch != nullptr) sanitize::exchange(warp, lanes<u32>(warp, i.b[3]));
  const u32 elected = static_cast<u32>(std::countr_zero(warp.executing));
  assign_mask(warp, i.dst[1], 1u << elected);
  assign<u32>(warp, i, [=](int) { return elected; });
}

}  // namespace

void register_cluster_operations(Registry& r) {
  r.add("mapa.shared.b32", &run_map_address<u32>);
  r.add("mapa.shared.b64", &run_map_address<u64>);
  r.add("mapa.generic.b64", &run_map_address<u64>);
  r.add("getctarank.b32", &run_rank<u32>);
  r.add("getctarank.b64", &run_rank<u64>);
  r.add("elect.sync", &run_elect);
}

}  // namespace flashpath::exec
