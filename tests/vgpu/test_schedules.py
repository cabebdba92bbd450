"""Schedules: blocks side by side where they wait for each other, and another legal order for every seed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import flashpath as fp

Launch = Callable[..., list[Any]]
Array = np.ndarray[Any, Any]

SOURCE = r"""
#include <cuda_pipeline.h>

// ---- Blocks that wait for each other -------------------------------------------------------------------

extern "C" __global__ void consumer_first(volatile int* flag, volatile int* data, int* out) {
    if (blockIdx.x == 0) {                       // waits for all blocks after it
        if (threadIdx.x == 0) while (*flag < gridDim.x - 1) {}
        __syncthreads();
        __threadfence();
        for (int b = 1 + threadIdx.x; b < gridDim.x; b += blockDim.x) out[b] = data[b];
    } else if (threadIdx.x == 0) {
        data[blockIdx.x] = 7 * blockIdx.x;
        __threadfence();
        atomicAdd((int*)flag, 1);
    }
}

extern "C" __global__ void grid_barrier(int* arrived, int* x, int* out, int rounds) {
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x == 0) x[r * gridDim.x + blockIdx.x] = blockIdx.x + r;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(arrived, 1);
            while (*(volatile int*)arrived < (r + 1) * gridDim.x) {}
            __threadfence();
        }
        __syncthreads();
        int sum = 0;
        for (int b = 0; b < gridDim.x; b++) sum += ((volatile int*)x)[r * gridDim.x + b];
        if (threadIdx.x == 0) out[r * gridDim.x + blockIdx.x] = sum;
    }
}

// Decoupled look-back: a block takes its number from a ticket, so that those before it have started.
extern "C" __global__ void look_back(const int* x, int* out, int* ticket, volatile int* state,
                                     volatile int* sums) {
    __shared__ int tile, before, parts[64];
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    int i = tile * 64 + threadIdx.x;
    parts[threadIdx.x] = x[i];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int v = threadIdx.x >= d ? parts[threadIdx.x - d] : 0;
        __syncthreads();
        parts[threadIdx.x] += v;
        __syncthreads();
    }
    if (threadIdx.x == 63) {
        sums[2 * tile] = parts[63];              // this tile's own sum
        __threadfence();
        state[tile] = 1;
        int total = 0;
        for (int t = tile - 1; t >= 0; t--) {
            int s;
            do s = state[t]; while (s == 0);
            __threadfence();
            if (s == 2) { total += sums[2 * t + 1]; break; }
            total += sums[2 * t];
        }
        sums[2 * tile + 1] = total + parts[63];  // all up to here
        __threadfence();
        state[tile] = 2;
        before = total;
    }
    __syncthreads();
    out[i] = before + parts[threadIdx.x];
}

extern "C" __global__ void ticket_lock(int* next, volatile int* serving, volatile int* count, int* order) {
    for (int lane = 0; lane < 32; lane++) {
        if (threadIdx.x % 32 == lane) {
            int mine = atomicAdd(next, 1);
            while (*serving != mine) {}
            __threadfence();
            order[*count] = blockIdx.x;
            *count = *count + 1;
            __threadfence();
            *serving = mine + 1;
        }
    }
}

extern "C" __global__ void spin_lock(int* lock, volatile int* count) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *count = *count + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

extern "C" __global__ void last_block(const int* x, int* parts, int* arrived, int* out) {
    __shared__ int sum, last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(arrived, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        int total = 0;
        for (int b = 0; b < gridDim.x; b++) total += ((volatile int*)parts)[b];
        *out = total;
    }
}

// ---- Within a block ------------------------------------------------------------------------------------

extern "C" __global__ void warp_sums(const int* x, int* out) {
    __shared__ int data[128];
    int i = threadIdx.x, lane = i % 32, first = i - lane;
    data[i] = x[blockIdx.x * 128 + i];
    __syncwarp();
    for (int half = 16; half > 0; half /= 2) {
        int v = lane < half ? data[i + half] : 0;
        __syncwarp();
        data[i] += v;
        __syncwarp();
    }
    int v = data[first];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffffu, lane == 0 ? 0 : d - d, d);
    out[blockIdx.x * 128 + i] = v + __popc(__ballot_sync(0xffffffffu, lane & 1)) - 16;
}

extern "C" __global__ void named_barriers(int* out) {
    __shared__ int full[2], data[64];
    int i = threadIdx.x;
    if (i < 64) {
        for (int r = 0; r < 4; r++) {
            data[i] = 100 * r + i;
            asm volatile("bar.arrive 1, 128;" ::: "memory");   // filled
            asm volatile("bar.sync 2, 128;" ::: "memory");     // empty again
        }
    } else {
        for (int r = 0; r < 4; r++) {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[64 * r + i - 64] = data[127 - i];
            asm volatile("bar.arrive 2, 128;" ::: "memory");
        }
    }
}

extern "C" __global__ void pipeline(const int* x, int* out, int tiles) {
    __shared__ int buffer[2][64];
    int i = threadIdx.x, sum = 0;
    __pipeline_memcpy_async(&buffer[0][i], x + i, 4);
    __pipeline_commit();
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) __pipeline_memcpy_async(&buffer[(t + 1) % 2][i], x + 64 * (t + 1) + i, 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += buffer[t % 2][63 - i];
        __syncthreads();
    }
    out[i] = sum;
}

extern "C" __global__ void parts_of_a_warp(unsigned* out) {
    unsigned lane = threadIdx.x % 32, mask = lane < 16 ? 0xffffu : 0xffff0000u, v;
    if (lane % 2) v = __ballot_sync(0xaaaaaaaau, lane > 8); else v = __ballot_sync(0x55555555u, lane > 8);
    out[threadIdx.x] = v + __reduce_add_sync(mask, lane) + __match_any_sync(mask, lane / 8);
}

// ---- What the plain order hides --------------------------------------------------------------------------

extern "C" __global__ void no_barrier(int* out) {
    __shared__ int data[128];
    data[threadIdx.x] = threadIdx.x + 1;
    out[threadIdx.x] = data[threadIdx.x < 32 ? threadIdx.x : threadIdx.x - 32];   // of an earlier warp
}
extern "C" __global__ void no_warp_barrier(volatile int* data, int* out) {
    data[threadIdx.x] = threadIdx.x + 1;
    out[threadIdx.x] = data[threadIdx.x ^ 1];
}
extern "C" __global__ void lost_updates(volatile int* count) { *count = *count + 1; }
extern "C" __global__ void last_writer(int* out) { *out = threadIdx.x; }
extern "C" __global__ void who_comes_first(int* ticket, int* order) {
    if (threadIdx.x == 0) order[atomicAdd(ticket, 1)] = blockIdx.x;
}
extern "C" __global__ void no_wait(const int* x, int* out) {
    __shared__ int data[32];
    data[threadIdx.x] = -1;
    __pipeline_memcpy_async(&data[threadIdx.x], x + threadIdx.x, 4);
    __pipeline_commit();
    int sum = 0;
    for (int k = 0; k < 64; k++) sum += ((volatile int*)x)[k % 32];
    out[threadIdx.x] = data[threadIdx.x] + sum - sum;
}
"""

SEEDS = range(20)


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(SOURCE, "sm_80")


def zeros(count: int) -> Array:
    return np.zeros(count, np.int32)


# ---- Correct kernels are right under every schedule --------------------------------------------------------


def check_consumer_first(run: Callable[..., Any]) -> None:
    out = zeros(20)
    run("consumer_first", 20, 64, zeros(1), zeros(20), out)
    assert out.tolist() == [7 * b for b in range(20)]


def check_grid_barrier(run: Callable[..., Any]) -> None:
    blocks, rounds = 30, 3
    out = zeros(blocks * rounds)
    run("grid_barrier", blocks, 64, zeros(1), zeros(blocks * rounds), out, rounds)
    expected = [blocks * (blocks - 1) // 2 + r * blocks for r in range(rounds) for _ in range(blocks)]
    assert out.tolist() == expected


def check_look_back(run: Callable[..., Any]) -> None:
    tiles = 40
    x = np.random.default_rng(1).integers(-50, 50, 64 * tiles, dtype=np.int32)
    out = zeros(64 * tiles)
    run("look_back", tiles, 64, x, out, zeros(1), zeros(tiles), zeros(2 * tiles))
    assert np.array_equal(out, np.cumsum(x))


def check_ticket_lock(run: Callable[..., Any]) -> None:
    count, order = zeros(1), zeros(4 * 64)
    run("ticket_lock", 4, 64, zeros(1), zeros(1), count, order)
    assert count[0] == 4 * 64
    assert np.bincount(order).tolist() == [64] * 4


def check_spin_lock(run: Callable[..., Any]) -> None:
    count = zeros(1)
    run("spin_lock", 3, 64, zeros(1), count)
    assert count[0] == 3 * 64


def check_last_block(run: Callable[..., Any]) -> None:
    x = np.arange(16 * 64, dtype=np.int32)
    out = zeros(1)
    run("last_block", 16, 64, x, zeros(16), zeros(1), out)
    assert out[0] == x.sum()


def check_warp_sums(run: Callable[..., Any]) -> None:
    x = np.random.default_rng(2).integers(0, 100, 3 * 128, dtype=np.int32)
    out = zeros(3 * 128)
    run("warp_sums", 3, 128, x, out)
    assert np.array_equal(out, np.repeat(x.reshape(-1, 32).sum(1), 32))


def check_named_barriers(run: Callable[..., Any]) -> None:
    out = zeros(256)
    run("named_barriers", 1, 128, out)
    assert out.reshape(4, 64).tolist() == [[100 * r + 63 - i for i in range(64)] for r in range(4)]


def check_pipeline(run: Callable[..., Any]) -> None:
    x = np.arange(64 * 5, dtype=np.int32)
    out = zeros(64)
    run("pipeline", 1, 64, x, out, 5)
    assert np.array_equal(out, x.reshape(5, 64)[:, ::-1].sum(0))


def check_parts_of_a_warp(run: Callable[..., Any]) -> None:
    out = np.zeros(64, np.uint32)
    run("parts_of_a_warp", 1, 64, out)
    above = sum(1 << lane for lane in range(9, 32))
    for i in range(64):
        lane = i % 32
        votes = above & (0xAAAAAAAA if lane % 2 else 0x55555555)
        total = sum(range(16)) if lane < 16 else sum(range(16, 32))
        assert out[i] == (votes + total + (0xFF << lane // 8 * 8)) % 2**32


CHECKS = [
    check_consumer_first,
    check_grid_barrier,
    check_look_back,
    check_ticket_lock,
    check_spin_lock,
    check_last_block,
    check_warp_sums,
    check_named_barriers,
    check_pipeline,
    check_parts_of_a_warp,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_correct_kernels_are_right_and_clean_under_every_schedule(
    module: fp.Module, launch_with: Launch, check: Callable[[Callable[..., Any]], None]
) -> None:
    for seed in SEEDS:

        def run(name: str, *arguments: Any, seed: int = seed) -> None:
            found = launch_with(module[name], *arguments, seed=seed, sanitize=True)
            assert [str(each) for each in found] == []

        check(run)


@pytest.mark.parametrize("threads", [2, 4])
def test_blocks_wait_for_each_other_on_several_host_threads_too(
    module: fp.Module, launch_with: Launch, threads: int
) -> None:
    check_grid_barrier(lambda name, *arguments: launch_with(module[name], *arguments, threads=threads))
    check_consumer_first(lambda name, *arguments: launch_with(module[name], *arguments, threads=threads))


# ---- Other schedules show what the plain one hides ---------------------------------------------------------


def results(
    module: fp.Module, launch_with: Launch, name: str, *sizes: int, grid: int = 1, block: int
) -> list[Any]:
    """The last array after a launch under each of the schedules."""
    found: list[Any] = []
    for seed in SEEDS:
        arrays = [zeros(size) for size in sizes]
        launch_with(module[name], grid, block, *arrays, seed=seed)
        found.append(arrays[-1].tolist())
    return found


def test_a_missing_barrier_shows(module: fp.Module, launch_with: Launch) -> None:
    plain, *others = results(module, launch_with, "no_barrier", 128, block=128)
    assert plain == [i + 1 if i < 32 else i - 31 for i in range(128)]
    assert any(other != plain for other in others)


def test_a_missing_barrier_of_a_warp_shows(module: fp.Module, launch_with: Launch) -> None:
    plain, *others = results(module, launch_with, "no_warp_barrier", 32, 32, block=32)
    assert plain == [(i ^ 1) + 1 for i in range(32)]
    assert any(other != plain for other in others)


def test_lost_updates_are_lost_in_many_ways(module: fp.Module, launch_with: Launch) -> None:
    plain, *others = results(module, launch_with, "lost_updates", 1, grid=8, block=32)
    assert plain == [8]
    assert len({tuple(other) for other in others}) > 3


def test_any_lane_may_write_last(module: fp.Module, launch_with: Launch) -> None:
    plain, *others = results(module, launch_with, "last_writer", 1, block=32)
    assert plain == [31]
    assert len({tuple(other) for other in others}) > 3


def test_blocks_come_in_any_order(module: fp.Module, launch_with: Launch) -> None:
    plain, *others = results(module, launch_with, "who_comes_first", 1, 50, grid=50, block=32)
    assert plain == list(range(50))
    assert all(sorted(other) == plain for other in others)
    assert len({tuple(other) for other in others}) == len(others)


def test_copies_are_done_early_or_late(module: fp.Module, launch_with: Launch) -> None:
    x = np.arange(32, dtype=np.int32)
    seen: set[bool] = set()
    for seed in SEEDS:
        out = zeros(32)
        launch_with(module["no_wait"], 1, 32, x, out, seed=seed)
        assert set(np.unique(np.where(out == x, 0, out))) <= {0, -1}
        seen.add(bool((out == x).any()))
        if seed == 0:
            assert (out == -1).all()
    assert seen == {True, False}


def test_a_seed_is_one_schedule(module: fp.Module, launch_with: Launch) -> None:
    for name, sizes, grid, block in [("lost_updates", (1,), 8, 64), ("who_comes_first", (1, 50), 50, 32)]:
        first = results(module, launch_with, name, *sizes, grid=grid, block=block)
        assert first == results(module, launch_with, name, *sizes, grid=grid, block=block)


def test_the_schedule_of_a_seed_is_the_same_on_every_machine(module: fp.Module, launch_with: Launch) -> None:
    order = zeros(10)
    launch_with(module["who_comes_first"], 10, 32, zeros(1), order, seed=12345)
    assert order.tolist() == [4, 5, 2, 6, 0, 3, 7, 1, 9, 8]
