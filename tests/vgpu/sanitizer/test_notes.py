"""Orders that the memory model does not promise and GPUs keep: told as notes, and as nothing else."""

from __future__ import annotations

import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.findings import Finding, without_notes

pytestmark = pytest.mark.usefixtures("on_the_virtual_gpu")

GUESS = """
__global__ void maximum(int* largest) {
  if (threadIdx.x != 0) return;
  int seen = *largest, own = blockIdx.x;
  while (seen < own) {
    int before = atomicCAS(largest, seen, own);
    if (before == seen) break;
    seen = before;
  }
}
"""
LAST_BLOCK = """
__device__ unsigned arrived;
__global__ void sum(int* parts, int* total) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = 1;
    FENCE
    last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (int k = 0; k < gridDim.x; ++k) sum += parts[k];
    *total = sum;
  }
}
"""


def look_at(source: str, *sizes: int, grid: int = 8, block: int = 32, seeds: int = 4) -> list[Finding]:
    kernel = _only(source)
    return fp.sanitize(kernel, grid, block, [np.zeros(size, np.int32) for size in sizes], seeds=seeds)


def _only(source: str) -> fp.Kernel:
    name = source.partition("__global__ void ")[2].partition("(")[0]
    return fp.compile(source)[name]


def test_the_guess_of_a_compare_and_swap_loop() -> None:
    (note,) = look_at(GUESS, 1)
    assert note.other is not None
    assert note.kind == "weak-order"
    assert {note.line, note.other.line} == {4, 6}
    assert "a guess, which the compare-and-swap checks" in note.message
    assert without_notes([note]) == []


def test_a_read_that_decides_is_a_race() -> None:
    decides = (
        GUESS.replace("while (seen < own)", "if (seen < own)")
        .replace("int before = atomicCAS(largest, seen, own);", "int before = atomicMax(largest, own);")
        .replace("if (before == seen) break;", "")
        .replace("seen = before;", "largest[1] = before;")
    )
    assert "race" in {finding.kind for finding in look_at(decides, 2)}


def test_the_last_block_that_has_no_second_fence() -> None:
    (note,) = look_at(LAST_BLOCK.replace("FENCE", "__threadfence();"), 8, 1)
    assert note.kind == "weak-order"
    assert "no fence comes after it" in note.message
    assert "__threadfence()" in note.advice


def test_without_the_first_fence_it_is_a_race() -> None:
    assert {finding.kind for finding in look_at(LAST_BLOCK.replace("FENCE", ""), 8, 1)} == {"race"}


def test_the_last_block_that_writes_where_others_wrote() -> None:
    """As NVIDIA's threadFenceReduction does: the sum stands where the first block left its part."""
    source = LAST_BLOCK.replace("FENCE", "__threadfence();").replace("*total =", "parts[0] = *total =")
    found = look_at(source, 8, 1)
    assert {finding.kind for finding in found} == {"weak-order"}
    assert sorted(finding.message.partition(" of ")[0] for finding in found) == ["a read", "a write"]
    assert all("after a write by another block" in finding.message for finding in found)
    unfenced = {finding.kind for finding in look_at(source.replace("__threadfence();", ""), 8, 1)}
    assert unfenced == {"race"}
    assert look_at(source.replace("  __syncthreads();", "  __threadfence(); __syncthreads();"), 8, 1) == []


def test_the_last_block_that_writes_where_others_read() -> None:
    source = LAST_BLOCK.replace("parts[blockIdx.x] = 1;", "parts[blockIdx.x] = total[0];").replace(
        "FENCE", "__threadfence();"
    )
    found = look_at(source, 8, 1)
    assert {finding.kind for finding in found} == {"weak-order"}
    assert any("a write of" in each.message and "after a read by another" in each.message for each in found)


LOCK = """
__global__ void count(int* lock, int* sum) {
  if (threadIdx.x == 0) {
    while (TAKE != 0) {}
    FENCE
    *sum += 1;
    __threadfence();
    atomicExch(lock, 0);
  }
}
"""


@pytest.mark.parametrize("take", ["atomicCAS(lock, 0, 1)", "atomicExch(lock, 1)"])
def test_a_lock_that_is_taken_without_a_fence_is_a_race(take: str) -> None:
    """A GPU's cache may hold what was there before the lock was taken."""
    found = look_at(LOCK.replace("TAKE", take).replace("FENCE", ""), 1, 1)
    assert {finding.kind for finding in found} == {"race"}
    assert look_at(LOCK.replace("TAKE", take).replace("FENCE", "__threadfence();"), 1, 1) == []


SHUFFLED = """
__global__ void total(const int* x, int* y) {
  __shared__ int part[32];
  part[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  int v = part[threadIdx.x];
  EXCHANGE
  part[0] = v;
  __syncthreads();
  y[threadIdx.x] = part[0];
}
"""


@pytest.mark.parametrize(
    "exchange",
    [
        "for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);",
        "v = __reduce_add_sync(~0u, v);",
        "v = __ballot_sync(~0u, v > 0);",
        "v = __shfl_sync(~0u, v, 0);",
    ],
)
def test_what_lanes_exchange_they_have_read(exchange: str) -> None:
    assert look_at(SHUFFLED.replace("EXCHANGE", exchange), 32, 32, grid=1) == []


def test_an_exchange_orders_no_later_read_and_no_other_lanes() -> None:
    late = SHUFFLED.replace("EXCHANGE", "v = __shfl_sync(~0u, v, 0) + part[31 - threadIdx.x];")
    assert {finding.kind for finding in look_at(late, 32, 32, grid=1)} == {"race"}
    half = (
        SHUFFLED.replace(
            "EXCHANGE",
            "if (threadIdx.x >= 16) { y[threadIdx.x] = v; return; } v = __shfl_sync(0xffffu, v, 0);",
        )
        .replace("part[0] = v;", "part[threadIdx.x + 16] = v;")
        .replace("  __syncthreads();\n  y", "  y")
    )
    assert "race" in {finding.kind for finding in look_at(half, 32, 32, grid=1)}


def test_an_exchange_does_not_bring_writes_to_other_lanes() -> None:
    source = """
    __global__ void pass(int* y) {
      __shared__ int s[32];
      s[threadIdx.x] = threadIdx.x;
      int v = __shfl_xor_sync(~0u, 1, 1);
      y[threadIdx.x] = s[31 - threadIdx.x] + v;
    }
    """
    assert {finding.kind for finding in look_at(source, 32, grid=1)} == {"race"}


ONE_LANE_WAITS = """
#include <cuda/atomic>
__global__ void pass(int* y) {
  __shared__ int s[32];
  __shared__ int arrived;
  cuda::atomic_ref<int, cuda::thread_scope_block> flag(arrived);
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) arrived = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    s[lane] = lane;
    __syncwarp();
    if (lane == 0) flag.store(1, cuda::memory_order_release);
  } else {
    int there = 0;
    while (there == 0) {
      if (lane == 0) there = flag.load(ORDER);
      there = TOLD;
    }
    y[lane] = s[31 - lane];
  }
}
"""


@pytest.mark.parametrize(
    ("order", "told", "kinds"),
    [
        ("cuda::memory_order_acquire", "__shfl_sync(~0u, there, 0)", {"weak-order"}),
        ("cuda::memory_order_acquire", "__any_sync(~0u, there)", {"weak-order"}),
        ("cuda::memory_order_acquire", "__shfl_sync(~0u, there, 0); __syncwarp()", set[str]()),
        ("cuda::memory_order_relaxed", "__shfl_sync(~0u, there, 0)", {"race"}),
    ],
)
def test_one_lane_that_waits_tells_the_others_by_a_shuffle(order: str, told: str, kinds: set[str]) -> None:
    source = ONE_LANE_WAITS.replace("ORDER", order).replace("TOLD", told)
    found = look_at(source, 32, grid=1, block=64)
    assert {finding.kind for finding in found} == kinds
    for finding in found:
        if finding.kind == "weak-order":
            assert "by a shuffle or a vote alone" in finding.message
            assert "__syncwarp()" in finding.advice
            assert finding.thread is not None
            assert finding.thread[0] > 32  # lane 0 of that warp knows


def test_a_barrier_of_several_warps_as_cooperative_groups_has_it() -> None:
    source = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    __global__ void sums(const int* x, int* y) {
      __shared__ cg::block_tile_memory<128> room;
      auto tile = cg::tiled_partition<64>(cg::this_thread_block(room));
      for (int k = 0; k < 2; ++k) y[threadIdx.x] = cg::reduce(tile, x[threadIdx.x] + k, cg::plus<int>());
    }
    """
    assert {finding.kind for finding in look_at(source, 128, 128, grid=1, block=128)} == {"weak-order"}


def test_of_two_races_the_one_between_warps_is_told() -> None:
    source = """
    __global__ void two(int* y) {
      __shared__ int s[64];
      s[threadIdx.x] = 1;
      __syncthreads();
      int v = s[0] + s[32];
      if (threadIdx.x % 32 == 31) s[threadIdx.x / 32 * 32] = v;
      __syncthreads();
      y[threadIdx.x] = s[0];
    }
    """
    (finding,) = look_at(source, 64, grid=1, block=64)
    assert finding.said.code == "vgpu.race-other-warp"


def test_what_nobody_writes_is_told_beside_a_race() -> None:
    source = """
    __global__ void shift(int* y) {
      __shared__ int s[65];
      s[threadIdx.x] = threadIdx.x;
      y[threadIdx.x] = s[threadIdx.x + 1];
    }
    """
    race, blank = look_at(source, 64, grid=1, block=64)
    assert (race.kind, blank.kind) == ("race", "uninitialized")
    assert blank.thread == (63, 0, 0)
