"""What is wrong with asynchronous work is found: fences between threads and units, waits, bytes that never come."""

# ruff: noqa: E501 - device code

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import flashpath as fp

STORE = r"""
__device__ unsigned smem(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
#define FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
extern "C" __global__ void store(const float* x, float* y) {
    __shared__ alignas(128) float tile[64];
    tile[threadIdx.x] = x[threadIdx.x];
    %(before)s
    __syncthreads();
    %(after)s
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%%0], [%%1], 256;" :: "l"(y), "r"(smem(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group;");
        %(wait)s
    }
    %(then)s
}
"""
WAIT = 'asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");'
WAIT_READ = 'asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");'
AGAIN = "__syncthreads(); tile[threadIdx.x] = 0;"


def stored(**parts: str) -> list[Any]:
    texts = {"before": "", "after": "", "wait": WAIT, "then": "", **parts}
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    kernel = fp.compile(STORE % texts, "sm_90")["store"]
    return fp.sanitize(kernel, 1, 64, (x, y), seeds=3)


@pytest.mark.parametrize(
    "parts",
    [
        {"before": "FENCE;"},
        {"after": "if (threadIdx.x == 0) FENCE;"},
        {"after": "if (threadIdx.x == 40) FENCE; __syncthreads();"},
        {"before": "FENCE;", "wait": WAIT_READ, "then": AGAIN},
    ],
)
def test_fences_between_stores_and_a_copy(parts: dict[str, str]) -> None:
    assert stored(**parts) == []


@pytest.mark.parametrize(
    ("parts", "kinds"),
    [
        ({}, {"missing-fence"}),
        ({"after": "if (threadIdx.x == 40) FENCE;"}, {"missing-fence"}),
        ({"before": "FENCE;", "wait": ""}, {"missing-wait"}),
        ({"before": "FENCE;", "wait": "", "then": AGAIN}, {"missing-wait"}),
        ({"before": "FENCE;", "wait": WAIT_READ, "then": "tile[threadIdx.x] = 0;"}, {"race"}),
    ],
)
def test_fences_and_waits_that_are_missing(parts: dict[str, str], kinds: set[str]) -> None:
    found = stored(**parts)
    assert {finding.kind for finding in found} >= kinds
    assert {finding.kind for finding in found} <= kinds | {
        "missing-wait",
        "missing-fence",
    }  # in other schedules


LOAD = r"""
__device__ unsigned smem(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
extern "C" __global__ void load(const float* x, float* y, int announced, int count) {
    __shared__ alignas(128) float tile[64];
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(smem(&bar)), "r"(count));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"(smem(&bar)), "r"(announced));
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
            :: "r"(smem(tile)), "l"(x), "r"(smem(&bar)) : "memory");
    }
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra W; }"
                 :: "r"(smem(&bar)) : "memory");
    y[threadIdx.x] = tile[threadIdx.x];
}
"""


@pytest.mark.parametrize(
    ("announced", "count", "words"),
    [
        (512, 1, "lacks 1 of 1 arrivals and 256 of the bytes"),
        (256, 2, "lacks 1 of 2 arrivals"),
    ],
)
def test_a_barrier_that_is_never_complete_says_what_it_lacks(announced: int, count: int, words: str) -> None:
    x, y = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    with pytest.raises(fp.KernelFault) as caught:
        fp.compile(LOAD, "sm_90")["load"].launch(1, 64, (x, y, announced, count))
    assert caught.value.kind == "deadlock"
    assert words.replace("lacks 1 of 1 arrivals and", "") in caught.value.message
    assert "mbarrier at 0x" in caught.value.message
