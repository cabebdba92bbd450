"""Misuse of barriers and member masks: found in sanitised launches, with line and thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flashpath as fp

Launch = Callable[..., list[Any]]
Place = tuple[str, int, tuple[int, int, int], str]  # kind, line, thread, what the message has

BUGS = r"""
extern "C" __global__ void half_a_warp(int* x) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 16)
        __syncthreads();                                              // line 6
    x[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void one_warp(int* x) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32)
        __syncthreads();                                              // line 13
    x[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void one_in_each_branch(int* x) {
    if (threadIdx.x % 2) {
        x[threadIdx.x] = 1;
        __syncthreads();                                              // line 19
    } else {
        __syncthreads();                                              // line 21
        x[threadIdx.x] = 2;
    }
}
extern "C" __global__ void in_a_loop(int* x) {
    for (int k = 0; k < 3; k++) {
        if (threadIdx.x < 16)
            __syncthreads();                                          // line 28
        x[threadIdx.x] += k;
    }
}
extern "C" __global__ void rounds_of_its_own(int* x) {
    for (int k = 0; k < threadIdx.x % 3 + 1; k++) {
        x[threadIdx.x] += k;
        __syncthreads();                                              // line 35
    }
    x[threadIdx.x] += x[threadIdx.x ^ 1];
}
extern "C" __global__ void odd_count(int* x) {
    asm volatile("bar.sync 1, %0;" :: "r"(x[0] + 48));                // line 40
    x[threadIdx.x] = 1;
}
extern "C" __global__ void two_counts(int* x) {
    if (threadIdx.x < 32) asm volatile("bar.arrive 1, 64;");          // line 44
    else if (threadIdx.x < 64) asm volatile("bar.sync 1, 96;");       // line 45
    else asm volatile("bar.sync 1, 96;");
    x[threadIdx.x] = 1;
}

extern "C" __global__ void full_mask_in_a_branch(int* x) {
    int v = threadIdx.x;
    if (threadIdx.x < 16)
        v += __shfl_xor_sync(0xffffffffu, v, 4);                      // line 53
    x[threadIdx.x] = v;
}
extern "C" __global__ void not_in_its_own_mask(int* x) {
    x[threadIdx.x] = __shfl_xor_sync(0xffffu, (int)threadIdx.x, 1);   // line 57
}
extern "C" __global__ void no_lane_named(int* x) {
    x[threadIdx.x] = __ballot_sync(x[threadIdx.x], 1);                // line 60
}
extern "C" __global__ void masks_that_differ(int* x) {
    unsigned m = threadIdx.x < 16 ? 0xffffffffu : 0xffff0000u;
    x[threadIdx.x] = __ballot_sync(m, 1);                             // line 64
}
extern "C" __global__ void reads_from_outside(int* x) {
    unsigned m = __ballot_sync(0xffffffffu, threadIdx.x < 20);
    if (threadIdx.x < 20)
        x[threadIdx.x] = __shfl_sync(m, (int)threadIdx.x, 25);        // line 69
}
extern "C" __global__ void reads_from_a_lane_that_ended(int* x) {
    if (threadIdx.x >= 24) return;
    x[threadIdx.x] = __shfl_down_sync(0xffffffffu, (int)threadIdx.x, 8);   // line 73
}
"""

WRONG: list[tuple[str, int, list[Place]]] = [
    ("half_a_warp", 64, [("divergent-barrier", 6, (0, 0, 0), "16 threads of it ended without coming")]),
    (
        "one_warp",
        64,
        [("divergent-barrier", 13, (0, 0, 0), "32 of 64 threads of the block ended without coming")],
    ),
    ("one_in_each_branch", 64, [("divergent-barrier", 19, (1, 0, 0), "stand at another one, at line 21")]),
    ("in_a_loop", 64, [("divergent-barrier", 28, (0, 0, 0), "ended without coming")]),
    ("rounds_of_its_own", 32, [("divergent-barrier", 35, (1, 0, 0), "ended without coming")]),
    ("odd_count", 64, [("divergent-barrier", 40, (0, 0, 0), "48 threads, which is no multiple of 32")]),
    (
        "two_counts",
        96,
        [("divergent-barrier", 45, (32, 0, 0), "count 96 threads here, while threads wait there")],
    ),
    (
        "full_mask_in_a_branch",
        32,
        [("bad-mask", 53, (0, 0, 0), "names 16 threads that ended without coming here")],
    ),
    ("not_in_its_own_mask", 32, [("bad-mask", 57, (16, 0, 0), "lane 16 executes shfl.sync.bfly.b32 with")]),
    ("no_lane_named", 32, [("bad-mask", 60, (0, 0, 0), "the member mask 0, which names no lane")]),
    ("masks_that_differ", 32, [("bad-mask", 64, (0, 0, 0), "names lane 16, whose own mask is 0xffff0000")]),
    ("reads_from_outside", 32, [("bad-mask", 69, (0, 0, 0), "reads from lane 25, which the member mask")]),
    ("reads_from_a_lane_that_ended", 32, [("bad-mask", 73, (16, 0, 0), "lane 24, which does not take part")]),
]

CORRECT = r"""
extern "C" __global__ void early_exit(int* x, int n) {
    __shared__ int s[64];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = s[n - 1 - threadIdx.x];
}
extern "C" __global__ void early_exit_that_stores(int* x, int n) {   // compilers merge the two stores
    __shared__ int s[64];
    if (threadIdx.x >= n) { x[threadIdx.x] = -1; return; }
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = s[n - 1 - threadIdx.x];
}
extern "C" __global__ void barriers_of_warps_apart(int* x, int n) {  // legal: each warp has its own
    if (threadIdx.x < 32) { x[threadIdx.x] = n; asm volatile("bar.sync 0;"); }
    else asm volatile("bar.sync 0;");
    if (threadIdx.x >= 32) x[threadIdx.x] = x[threadIdx.x - 32];
}
extern "C" __global__ void unaligned_barriers_of_lanes_apart(int* x, int n) {
    if (threadIdx.x % 2) asm volatile("barrier.sync 0;"); else asm volatile("barrier.sync 0;");
    x[threadIdx.x] = n;
}
extern "C" __global__ void divergence_before_and_after(int* x, int n) {
    int v = 0;
    for (int k = 0; k < 4; k++) {
        if (threadIdx.x % 3 == 0) v += k * n; else if (threadIdx.x % 5 == 0) { v -= k; continue; }
        v++;
    }
    x[threadIdx.x] = v;
    for (int k = 0; k < 3; k++) {
        __syncthreads();
        if (threadIdx.x % 4 == k) x[threadIdx.x] += x[(threadIdx.x + 1) % blockDim.x] & 1;
        __syncthreads();
        if (threadIdx.x % 2) continue;
        x[threadIdx.x]++;
    }
}
extern "C" __global__ void masks_of_those_that_are_there(int* x, int n) {
    unsigned lane = threadIdx.x % 32;
    if (lane < 20) x[threadIdx.x] = __popc(__ballot_sync(0xfffffu, lane > 3));
    if (lane % 3 == 0) x[threadIdx.x] += __popc(__match_any_sync(__activemask(), lane / 6));
    if (lane >= 24) return;
    __syncwarp();                                                    // lanes that have ended do not count
    x[threadIdx.x] += __shfl_xor_sync(0xffffffu, n, 4);
    unsigned half = lane < 8 ? 0xffu : 0xffff00u;
    x[threadIdx.x] += __popc(__ballot_sync(half, 1));
}
extern "C" __global__ void last_warp_is_short(int* x, int n) {
    int v = threadIdx.x;
    for (int d = 1; d < 32; d *= 2) {
        int y = __shfl_up_sync(0xffffffffu, v, d);
        if (threadIdx.x % 32 >= d) v += y;
    }
    x[threadIdx.x] = v + __any_sync(0xffffffffu, n);
    __syncthreads();
}
"""

# Two warps meet at the barrier, and then two others: in the plain order 0 and 1, 2 and 3.
PAIRS = r"""
extern "C" __global__ void pairs(int* x) {
    int both;
    asm volatile("{ .reg .pred p; setp.lt.u32 p, %1, 64; bar.red.popc.u32 %0, 1, 64, p; }"
                 : "=r"(both) : "r"(threadIdx.x) : "memory");
    x[threadIdx.x] = both;
}
"""


@pytest.fixture(scope="module")
def bugs() -> fp.Module:
    return fp.compile(BUGS, "sm_80")


@pytest.fixture(scope="module")
def correct() -> fp.Module:
    return fp.compile(CORRECT, "sm_80")


@pytest.mark.parametrize(("name", "block", "places"), WRONG, ids=[row[0] for row in WRONG])
def test_misuse_is_found(
    bugs: fp.Module, launch_with: Launch, name: str, block: int, places: list[Place]
) -> None:
    found = launch_with(bugs[name], 1, block, np.zeros(128, np.int32), sanitize=True)
    # Who misses a barrier also races with those that did not: of that, tests/vgpu/sanitizer.
    found = [each for each in found if each.kind != "race"]
    assert [(each.kind, each.line, each.thread) for each in found] == [place[:3] for place in places]
    for each, (_, _, _, text) in zip(found, places, strict=True):
        assert text in each.message


@pytest.mark.parametrize(("name", "block", "places"), WRONG, ids=[row[0] for row in WRONG])
def test_it_is_found_under_other_schedules(
    bugs: fp.Module, launch_with: Launch, name: str, block: int, places: list[Place]
) -> None:
    for seed in range(1, 8):
        found = launch_with(bugs[name], 1, block, np.zeros(128, np.int32), sanitize=True, seed=seed)
        assert places[0][0] in {each.kind for each in found}, seed


def test_without_sanitize_what_can_go_on_does(bugs: fp.Module) -> None:
    for name, block, _ in WRONG:
        bugs[name][1, block](np.zeros(128, np.int32))


NAMES = [line.split("void ")[1].split("(")[0] for line in CORRECT.splitlines() if "__global__" in line]


@pytest.mark.parametrize("name", NAMES)
def test_correct_code_is_clean_under_all_schedules(
    correct: fp.Module, launch_with: Launch, name: str
) -> None:
    block = 48 if name == "last_warp_is_short" else 64
    results: set[bytes] = set()
    for seed in range(20):
        x = np.zeros(128, np.int32)
        found = launch_with(correct[name], 1, block, x, 50, sanitize=True, seed=seed)
        assert [str(each) for each in found] == []
        if name != "masks_of_those_that_are_there":  # what __activemask() gives is the schedule's choice
            results.add(x.tobytes())
    assert len(results) <= 1


@pytest.mark.plain_schedule("any two warps may meet")
def test_a_barrier_that_is_used_again_at_once_is_two() -> None:
    x = np.zeros(128, np.int32)
    fp.compile(PAIRS, "sm_80")["pairs"][1, 128](x)
    assert x.tolist() == [64] * 64 + [0] * 64
