"""`fp.watch`: launches that others make, counted and checked."""

from __future__ import annotations

import torch

import flashpath as fp
from flashpath.kernels import ladder

RACE = """
__global__ void race(float* x) {
  __shared__ float shared[64];
  shared[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = shared[63 - threadIdx.x];
}
"""


def test_launches_of_cuda_and_triton_are_counted_in_order() -> None:
    a, b = torch.randn(2, 4096)
    with fp.watch() as reports:
        ladder("vector_add")["vectorized"](a, b)
        ladder("vector_add")["triton"](a, b)
    assert [report.kernel for report in reports] == ["vector_add<float, 4>", "vector_add_kernel"]
    assert all(report.dram_bytes == 3 * 4096 * 4 for report in reports)
    ladder("vector_add")["vectorized"](a, b)
    assert len(reports) == 2


def test_a_named_gpu_is_meant_and_the_inner_watch_has_the_launch() -> None:
    a, b = torch.randn(2, 64)
    with fp.watch() as outer, fp.watch("H200") as inner:
        ladder("vector_add")["grid_stride"](a, b)
    assert (len(outer), [report.gpu for report in inner]) == (0, ["H200"])


def test_findings_are_listed_not_raised() -> None:
    race = fp.compile(RACE)["race"]
    with fp.watch(sanitize=True) as reports:
        race[1, 64](torch.zeros(64))
        race[1, 64](torch.zeros(8))  # too small
    assert {finding.kind for finding in reports[0].findings} == {"race"}
    assert "out-of-bounds" in {finding.kind for finding in reports[1].findings}
