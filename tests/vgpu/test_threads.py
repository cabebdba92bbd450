"""Blocks on several host threads: the same results, counts and faults as on one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.findings import KernelFault
from flashpath.vgpu.report import Report

SOURCE = """
    extern "C" __global__ void k(const float* x, float* out, int n, int bad) {
        __shared__ float part[64];
        int i = blockIdx.x * 64 + threadIdx.x;
        part[threadIdx.x] = i < n ? x[i] : 0.0f;
        __syncthreads();
        for (int half = 32; half > 0; half /= 2) {
            if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
            __syncthreads();
        }
        if (threadIdx.x == 0) out[blockIdx.x + (blockIdx.x >= bad ? 1 << 20 : 0)] = part[0];
    }
    extern "C" __global__ void count(int* out) { atomicAdd(out + threadIdx.x % 4, 1); }
    extern "C" __global__ void spin(int* flag) { while (atomicAdd(flag, 0) == 0) {} }
"""


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(SOURCE, "sm_80")


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_results_and_counts_are_those_of_one_thread(module: fp.Module, threads: int) -> None:
    x = np.random.default_rng(0).standard_normal(10_000, dtype=np.float32)
    blocks = -(-len(x) // 64)
    reports: list[Report] = []
    results: list[np.ndarray[Any, Any]] = []
    for count in (1, threads):
        out = np.zeros(blocks, np.float32)
        reports.append(fp.profile(module["k"], blocks, 64, (x, out, len(x), 1 << 30), threads=count))
        results.append(out)
    assert np.array_equal(results[0], results[1])
    assert str(reports[0]) == str(reports[1])
    assert reports[0].lines == reports[1].lines


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.plain_schedule("any block may fault first")
def test_the_fault_is_that_of_the_first_block(module: fp.Module, threads: int) -> None:
    x = np.ones(100 * 64, np.float32)
    for bad in (0, 7, 63):
        with pytest.raises(KernelFault) as caught:
            fp.profile(module["k"], 100, 64, (x, np.zeros(100, np.float32), len(x), bad), threads=threads)
        assert caught.value.finding.block == (bad, 0, 0)


def test_atomics_of_blocks_on_different_threads_are_atomic(module: fp.Module) -> None:
    out = np.zeros(4, np.int32)
    fp.profile(module["count"], 2000, 128, (out,), threads=4)
    assert out.tolist() == [64_000] * 4


@pytest.mark.plain_schedule("one host thread runs a schedule, and proves the livelock")
def test_a_runaway_kernel_ends_on_all_threads(module: fp.Module) -> None:
    with pytest.raises(KernelFault, match="budget is 500000"):
        fp.profile(module["spin"], 8, 32, (np.zeros(1, np.int32),), threads=4, budget=500_000)
