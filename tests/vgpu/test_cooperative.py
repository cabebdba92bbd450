"""Cooperative launches: all blocks of the grid are there at once, and wait for each other in grid.sync()."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flashpath as fp

SOURCE = r"""
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void rounds(int* x, int* out, int n) {
    cg::grid_group grid = cg::this_grid();
    for (int r = 0; r < n; r++) {
        if (threadIdx.x == 0) x[blockIdx.x] = grid.block_rank() + r;
        grid.sync();
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x * gridDim.y; b++) sum += x[b];
        if (threadIdx.x == 0) out[r * gridDim.x + blockIdx.x] = sum;
        grid.sync();
    }
}
extern "C" __global__ void arrives_and_waits(int* x, int* out) {
    auto grid = cg::this_grid();
    x[grid.thread_rank()] = 1;
    auto token = grid.barrier_arrive();
    grid.barrier_wait(static_cast<decltype(token)&&>(token));
    out[grid.thread_rank()] = x[grid.num_threads() - 1 - grid.thread_rank()];
}
extern "C" __global__ void one_block_leaves(int* out) {
    if (blockIdx.x == 3) return;
    cg::this_grid().sync();
    out[blockIdx.x] = 1;
}
"""


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(SOURCE, "sm_80")


def zeros(count: int) -> np.ndarray[Any, Any]:
    return np.zeros(count, np.int32)


@pytest.mark.parametrize("blocks", [1, 2, 108, 400])
def test_the_grid_waits_for_all(module: fp.Module, blocks: int) -> None:
    out = zeros(2 * blocks)
    module["rounds"].launch(blocks, 64, (zeros(blocks), out, 2), cooperative=True)
    first = blocks * (blocks - 1) // 2
    assert out.tolist() == [first] * blocks + [first + blocks] * blocks


def test_arrival_and_wait_apart(module: fp.Module) -> None:
    out = zeros(640)
    module["arrives_and_waits"].launch(10, 64, (zeros(640), out), cooperative=True)
    assert out.all()


def test_a_grid_that_does_not_fit_is_refused(module: fp.Module) -> None:
    kernel = module["rounds"]
    with pytest.raises(fp.jit.LaunchError) as caught:
        kernel.launch(300, 1024, (zeros(300), zeros(300), 1), cooperative=True)
    assert "a cooperative launch of 300 blocks; A100 holds 216 of them at once (2 on each of its 108" in str(
        caught.value
    )
    kernel.launch(216, 1024, (zeros(216), zeros(216), 1), cooperative=True)


def test_it_is_counted_as_well(module: fp.Module) -> None:
    out = zeros(4)
    report = fp.profile(module["rounds"], 4, 64, (zeros(4), out, 1), cooperative=True)
    assert out.tolist() == [6] * 4
    assert report.global_store.requests >= 8


def test_without_a_cooperative_launch_it_traps_as_on_a_gpu(module: fp.Module) -> None:
    with pytest.raises(fp.KernelFault) as caught:
        module["rounds"].launch(4, 64, (zeros(4), zeros(4), 1))
    assert caught.value.kind == "trap"


def test_a_block_that_never_comes_is_a_deadlock(module: fp.Module) -> None:
    with pytest.raises(fp.KernelFault, match=r"7 threads spin on ld\.acquire\.gpu") as caught:
        module["one_block_leaves"].launch(8, 64, (zeros(8),), cooperative=True)
    assert caught.value.kind == "deadlock"
