"""Deadlock and livelock: found long before the budget is spent, with who waits where; work is none."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flashpath as fp

Launch = Callable[..., list[Any]]

SOURCE = r"""
extern "C" __global__ void flag_nobody_sets(volatile int* flag, int* out) {
    if (threadIdx.x >= 32)
        while (*flag == 0) {}                                                    // line 4
    out[threadIdx.x] = 1;
}
extern "C" __global__ void lock_nobody_releases(int* lock, int* out) {
    while (atomicCAS(lock, 0, 1) != 0) {}                                        // line 8
    out[threadIdx.x] += 1;
}
extern "C" __global__ void locks_in_two_orders(int* locks, volatile int* held) {
    int mine = blockIdx.x;
    while (atomicExch(locks + mine, 1) != 0) {}
    held[mine] = 1;
    while (held[1 - mine] == 0) {}                                               // both hold their first
    while (atomicExch(locks + 1 - mine, 1) != 0) {}                              // line 16
    locks[mine] = locks[1 - mine] = 0;
}
extern "C" __global__ void grid_barrier(int* arrived) {
    atomicAdd(arrived, 1);
    while (*(volatile int*)arrived < gridDim.x) {}                               // line 21
}
extern "C" __global__ void two_barriers(int* out) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");                       // line 24
    else asm volatile("bar.sync 2, 64;");                                        // line 25
    out[threadIdx.x] = 1;
}
extern "C" __global__ void lanes_that_never_come(volatile int* flag) {
    if (threadIdx.x < 8)
        __syncwarp();                                                            // line 30
    else
        while (*flag == 0) {}                                                    // line 32
    *flag = 2;
}
extern "C" __global__ void barrier_that_expects_too_many(int* out) {
    __shared__ unsigned long long b;
    unsigned at = (unsigned)__cvta_generic_to_shared(&b);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 65;" :: "r"(at));
    __syncthreads();
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" :: "r"(at) : "memory");
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0;"
                     "  selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");   // line 44
    out[threadIdx.x] = 1;
}
extern "C" __global__ void backs_off(volatile int* flag) {
    unsigned wait = 8;
    while (*flag == 0) { __nanosleep(wait); if (wait < 256) wait *= 2; }         // line 49
}
extern "C" __global__ void asks_the_whole_block(volatile int* flag) {
    while (!__syncthreads_or(threadIdx.x == 0 && *flag)) {}                      // line 52
}
extern "C" __global__ void asks_through_shared_memory(int* flag) {
    __shared__ int seen;
    do {
        if (threadIdx.x == 0) seen = atomicAdd(flag, 0);                         // line 57
        __syncthreads();
        if (seen) break;
        __syncthreads();
    } while (true);
}
extern "C" __global__ void asks_the_whole_warp(volatile int* flag) {
    while (!__any_sync(~0u, threadIdx.x == 0 && *flag)) {}                       // line 64
}

// ---- None of these is stuck ----------------------------------------------------------------------------

extern "C" __global__ void computes(float* out, int n) {
    float x = threadIdx.x;
    for (int i = 0; i < n; i++) x = x * 0.99f + 1.0f;
    out[threadIdx.x] = x;
}
extern "C" __global__ void counts_on_registers_alone(unsigned* out, unsigned n) {
    unsigned i = 0;
    #pragma nounroll
    do asm volatile("add.u32 %0, %0, 1;" : "+r"(i)); while (i != n);
    out[threadIdx.x] = i;
}
extern "C" __global__ void reads_the_same_again(const volatile int* x, int* out, int n) {
    int i = 0;
    while (i < n) i += *x;                                                       // like a spin, but it ends
    out[threadIdx.x] = i;
}
extern "C" __global__ void tries_often(volatile int* flag, int* out) {
    if (blockIdx.x == 0) { int tries = 0; while (*flag == 0) tries++; out[threadIdx.x] = tries > 0; }
    else *flag = 1;
}
extern "C" __global__ void takes_turns(volatile int* turn, int* out) {
    for (int r = 0; r < 50; r++) {
        while (*turn != r * gridDim.x + blockIdx.x) {}
        out[r * gridDim.x + blockIdx.x] = *turn;
        __threadfence();
        *turn = *turn + 1;
    }
}
extern "C" __global__ void tries_so_often(volatile int* flag, int* out, int most) {
    int tries = 0;
    while (*flag == 0 && tries < most) tries++;                                  // line 99
    out[threadIdx.x] = tries;
}
extern "C" __global__ void hands_over_in_shared_memory(int* out, int rounds) {
    __shared__ volatile int turn;
    __shared__ int sum;
    if (threadIdx.x == 0) turn = sum = 0;
    __syncthreads();
    const int warps = blockDim.x / 32, warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        for (int r = 0; r < rounds; r++) {
            while (turn % warps != warp) {}
            __threadfence_block();
            sum += r;
            __threadfence_block();
            turn = turn + 1;
        }
    __syncthreads();
    out[threadIdx.x] = sum;
}
extern "C" __global__ void lanes_hand_over(int* out, int rounds) {
    __shared__ volatile int turn;
    if (threadIdx.x == 0) turn = 0;
    __syncwarp();
    for (int r = 0; r < rounds; r++) {
        while (turn % 32 != threadIdx.x) {}
        turn = turn + 1;
    }
    __syncwarp();
    out[threadIdx.x] = turn;
}
extern "C" __global__ void blinks(int* out, int rounds) {
    __shared__ volatile int light, seen;
    if (threadIdx.x == 0) light = seen = 0;
    __syncthreads();
    if (threadIdx.x == 0) while (seen < rounds) { light = 1; light = 0; }
    if (threadIdx.x == 32)
        for (int r = 0; r < rounds; r++) { while (light == 0) {} while (light == 1) {} seen = r + 1; }
    __syncthreads();
    out[threadIdx.x] = seen;
}
// Each block waits for the one after it, which starts last.
extern "C" __global__ void blocks_ask_backwards(volatile int* flags, int* out) {
    const int b = blockIdx.x;
    if (b + 1 < gridDim.x) while (!__syncthreads_or(threadIdx.x == 0 && flags[b + 1])) {}
    if (threadIdx.x == 0) { out[b] = 1; __threadfence(); flags[b] = 1; }
}
extern "C" __global__ void warps_ask_backwards(volatile int* flags, int* out) {
    const int b = blockIdx.x;
    if (b + 1 < gridDim.x) while (!__any_sync(~0u, threadIdx.x == 0 && flags[b + 1])) {}
    if (threadIdx.x == 0) { out[b] = 1; __threadfence(); flags[b] = 1; }
}
// Waits, but never looks as if: it writes something new every time.
extern "C" __global__ void reports_while_it_waits(volatile int* flag, volatile int* tries, int* out) {
    if (blockIdx.x == 2) *flag = 1;
    else for (int t = 1; *flag == 0; t++) { tries[blockIdx.x] = t; __syncthreads(); }
    out[blockIdx.x] = 1;
}
extern "C" __global__ void meets_often(int* out, int rounds) {
    __shared__ int token;
    if (threadIdx.x == 0) token = 0;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == r % blockDim.x) token++;
        __syncthreads();
    }
    out[threadIdx.x] = token;
}
"""


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(SOURCE, "sm_80")


def zeros(count: int) -> np.ndarray[Any, Any]:
    return np.zeros(count, np.int32)


BUDGET = 30_000_000  # of warp instructions: less than a second, and far more than finding a deadlock takes

STUCK: list[tuple[str, int, int, list[Any], int, tuple[int, int, int], list[str]]] = [
    (
        "flag_nobody_sets", 1, 64, [zeros(1), zeros(64)], 4, (32, 0, 0),
        [r"all 32 threads that are left", r"32 threads spin on ld\.volatile\.global\.u32 at line 4 "],
    ),
    (
        "lock_nobody_releases", 1, 64, [zeros(1), zeros(64)], 8, (1, 0, 0),
        [r"63 threads spin on atom\S*\.cas\.b32 at line 8 of source\.cu \(such as thread \(1, 0, 0\)"],
    ),
    (
        "locks_in_two_orders", 2, 1, [zeros(2), zeros(2)], 16, (0, 0, 0),
        [r"2 threads spin on atom\S*\.exch\.b32 at line 16"],
    ),
    (
        "two_barriers", 1, 64, [zeros(64)], 24, (0, 0, 0),
        [
            r"64 of 64 threads wait at a barrier",
            r"32 threads wait at barrier 1, where 32 of 64 have arrived at line 24",
            r"at barrier 2, where 32 of 64 have arrived at line 25 of source\.cu \(such as thread \(32",
        ],
    ),
    (
        "lanes_that_never_come", 1, 32, [zeros(1)], 30, (0, 0, 0),
        [
            r"8 threads wait in bar\.warp\.sync with the member mask 0xffffffff for lanes 8–31 \(now at line",
            r"24 threads spin on ld\.volatile\.global\.u32 at line 32",
        ],
    ),
    (
        "barrier_that_expects_too_many", 1, 64, [zeros(64)], 44, (0, 0, 0),
        [r"64 threads spin on mbarrier\.test_wait\S* at line 44"],
    ),
    ("backs_off", 1, 32, [zeros(1)], 49, (0, 0, 0), [r"32 threads spin on \S+ at line 49"]),
    (
        "asks_the_whole_block", 3, 64, [zeros(1)], 52, (0, 0, 0),
        [r"all 192 threads that are left", r"ld\.volatile\.global\.u32 at line 52"],
    ),
    ("asks_through_shared_memory", 1, 64, [zeros(1)], 57, (0, 0, 0), [r"atom\S*\.add\.u32 at line 57"]),
    ("asks_the_whole_warp", 2, 32, [zeros(1)], 64, (0, 0, 0), [r"ld\.volatile\.global\.u32 at line 64"]),
]  # fmt: skip


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("name", "grid", "block", "arrays", "line", "thread", "told"), STUCK, ids=[row[0] for row in STUCK]
)
def test_who_waits_where(
    module: fp.Module,
    launch_with: Launch,
    name: str,
    grid: int,
    block: int,
    arrays: list[np.ndarray[Any, Any]],
    line: int,
    thread: tuple[int, int, int],
    told: list[str],
    seed: int,
) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        launch_with(module[name], grid, block, *(array.copy() for array in arrays), seed=seed, budget=BUDGET)
    assert caught.value.kind == "deadlock"
    if name != "lock_nobody_releases" or seed == 0:  # any thread may win the lock
        assert caught.value.finding.thread == thread
        for text in told:
            assert re.search(text, caught.value.message), caught.value.message
    assert caught.value.line == line


@pytest.mark.parametrize("seed", [0, 3])
def test_a_grid_that_does_not_fit_waits_for_blocks_that_cannot_start(
    module: fp.Module, launch_with: Launch, seed: int
) -> None:
    kernel = module["grid_barrier"]
    resident = 108  # of the A100: a block that takes 100 of its 164 KiB on each of 108 multiprocessors
    launch_with(kernel, resident, 1, zeros(1), shared=100 << 10, device="A100", seed=seed)
    with pytest.raises(
        fp.KernelFault, match="5 more blocks of the grid have no room beside the 108"
    ) as caught:
        launch_with(kernel, resident + 5, 1, zeros(1), shared=100 << 10, device="A100", seed=seed)
    assert caught.value.kind == "deadlock"
    assert caught.value.line == 21


def test_a_fault_is_a_finding_where_findings_are_listed(module: fp.Module, launch_with: Launch) -> None:
    (found,) = launch_with(module["backs_off"], 1, 32, zeros(1), sanitize=True)
    assert found.kind == "deadlock"
    assert found.line == 49


# ---- Work is no livelock -------------------------------------------------------------------------------


def test_long_computations_are_none(module: fp.Module, launch_with: Launch) -> None:
    out = np.zeros(64, np.float32)
    launch_with(module["computes"], 1, 64, out, 300_000)
    assert np.allclose(out, 100)
    many = np.zeros(32, np.uint32)
    launch_with(module["counts_on_registers_alone"], 1, 32, many, 3_000_000)
    assert (many == 3_000_000).all()


def test_a_loop_that_reads_the_same_again_is_none(module: fp.Module, launch_with: Launch) -> None:
    out = zeros(32)
    launch_with(module["reads_the_same_again"], 1, 32, np.ones(1, np.int32), out, 2_000_000)
    assert (out == 2_000_000).all()


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_spin_that_counts_its_tries_gets_its_flag(
    module: fp.Module, launch_with: Launch, seed: int
) -> None:
    out = zeros(32)
    launch_with(module["tries_often"], 2, 32, zeros(1), out, seed=seed)
    assert set(out.tolist()) <= ({1} if seed == 0 else {0, 1})


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_blocks_that_wake_each_other_again_and_again(
    module: fp.Module, launch_with: Launch, seed: int
) -> None:
    out = zeros(50 * 7)
    launch_with(module["takes_turns"], 7, 1, zeros(1), out, seed=seed)
    assert np.array_equal(out, np.arange(50 * 7))


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
@pytest.mark.parametrize("name", ["blocks_ask_backwards", "warps_ask_backwards"])
def test_blocks_that_meet_while_they_wait_for_later_ones(
    module: fp.Module, launch_with: Launch, name: str, seed: int
) -> None:
    blocks = 40
    out = zeros(blocks)
    threads = 64 if name == "blocks_ask_backwards" else 32
    launch_with(module[name], blocks, threads, zeros(blocks), out, seed=seed, budget=BUDGET)
    assert out.all()


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_block_that_only_seems_to_work_gets_company(
    module: fp.Module, launch_with: Launch, seed: int
) -> None:
    out = zeros(3)
    launch_with(module["reports_while_it_waits"], 3, 32, zeros(1), zeros(3), out, seed=seed, budget=BUDGET)
    assert out.all()


@pytest.mark.parametrize("seed", [0, 1])
def test_barrier_after_barrier_is_work(module: fp.Module, launch_with: Launch, seed: int) -> None:
    out = zeros(64)
    launch_with(module["meets_often"], 1, 64, out, 3000, seed=seed)
    assert (out == 3000).all()


WAITS_BY_THE_CLOCK = r"""
#include <cuda/barrier>
extern "C" __global__ void barrier_that_looks_at_the_clock(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> b;
    if (threadIdx.x == 0) init(&b, blockDim.x + 1);
    __syncthreads();
    b.arrive_and_wait();                                                         // line 7
    out[threadIdx.x] = 1;
}
extern "C" __global__ void gives_up_in_time(const volatile int* flag, int* out) {
    long long begin = clock64();
    while (*flag == 0 && clock64() - begin < 3000000000) {}
    out[threadIdx.x] = 1;
}
"""


@pytest.mark.parametrize("blocks", [1, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_threads_that_look_at_the_clock_as_they_wait(launch_with: Launch, blocks: int, seed: int) -> None:
    module = fp.compile(WAITS_BY_THE_CLOCK, "sm_80")
    with pytest.raises(fp.KernelFault, match="none gives up, however long it waits") as caught:
        launch_with(module["barrier_that_looks_at_the_clock"], blocks, 32, zeros(32), seed=seed)
    assert caught.value.kind == "deadlock"
    assert caught.value.line == 7
    out = zeros(32)
    launch_with(module["gives_up_in_time"], blocks, 32, zeros(1), out, seed=seed)
    assert out.all()


@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_hand_overs_in_shared_memory_are_none(module: fp.Module, launch_with: Launch, seed: int) -> None:
    out = zeros(128)
    launch_with(module["hands_over_in_shared_memory"], 1, 128, out, 100, seed=seed)
    assert (out == 4 * sum(range(100))).all()
    lanes = zeros(32)
    launch_with(module["lanes_hand_over"], 1, 32, lanes, 20, seed=seed)
    assert (lanes == 20 * 32).all()


def test_what_is_seen_only_for_a_moment(module: fp.Module, launch_with: Launch) -> None:
    """Shared memory is again as it was, and still somebody may have been waiting for it."""
    out = zeros(64)
    launch_with(module["blinks"], 1, 64, out, 3, seed=1, budget=BUDGET)
    assert (out == 3).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_a_spin_that_counts_in_vain_is_a_deadlock(module: fp.Module, launch_with: Launch, seed: int) -> None:
    with pytest.raises(fp.KernelFault, match=r"32 threads spin on ld\S+ at line 8\d") as caught:
        launch_with(module["tries_often"], 1, 32, zeros(1), zeros(32), seed=seed, budget=BUDGET)
    assert caught.value.kind == "deadlock"
    out = zeros(32)
    launch_with(module["tries_so_often"], 1, 32, zeros(1), out, 100_000, seed=seed)
    assert (out == 100_000).all()


def test_what_is_not_proven_runs_out_of_its_budget_and_says_where(
    module: fp.Module, launch_with: Launch
) -> None:
    with pytest.raises(fp.KernelFault, match=r"its budget is 200000: .* at line \d+") as caught:
        launch_with(module["tries_so_often"], 1, 32, zeros(1), zeros(32), 1 << 30, budget=200_000)
    assert caught.value.kind == "timeout"


def test_who_sleeps_a_number_of_times_goes_on() -> None:
    source = """extern "C" __global__ void naps(int* out, int n) {
        for (int i = 0; i < n; i++) __nanosleep(100);
        out[0] = 1;
    }"""
    out = np.zeros(1, np.int32)
    fp.compile(source, "sm_80")["naps"].launch(1, 32, (out, 100_000))
    assert out[0] == 1
