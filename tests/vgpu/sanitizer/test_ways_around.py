"""Threads that go around a barrier straight to the kernel's end, and those that returned before it.

Both are the same machine code, byte for byte: verdicts.json can have no difference between them. The source
tells which it is (flashpath.jit.ways_out).
"""

from __future__ import annotations

import re

import numpy as np
import pytest

import flashpath as fp
from flashpath.vgpu.findings import Finding

SEEDS = 20

SOURCE = r"""
extern "C" __global__ void around(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = x[i];
    __syncthreads();  // BUG
  }
}
extern "C" __global__ void returned(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = x[i];
  __syncthreads();
}
extern "C" __global__ void around_and_reads(const float* x, float* out, int n) {
  __shared__ float tile[256];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  if (i < n) {
    __syncthreads();  // BUG
    out[i] = tile[threadIdx.x / 2];
  }
}
extern "C" __global__ void around_in_a_loop(const float* x, float* out, int n) {
  __shared__ float tile[256];
  for (int start = blockIdx.x * blockDim.x; start < n; start += gridDim.x * blockDim.x) {
    int i = start + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();
    if (i < n) {
      out[i] = tile[threadIdx.x / 2];
      __syncthreads();  // BUG
    }
  }
}
extern "C" __global__ void leaves_a_loop(const float* x, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    out[i] = x[i];
    __syncthreads();  // BUG
  }
}
extern "C" __global__ void returned_in_a_loop(const float* x, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x;; i += gridDim.x * blockDim.x) {
    if (i >= n) return;
    out[i] = x[i];
    __syncthreads();
  }
}
extern "C" __global__ void for_all(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = x[i];
  }
  __syncthreads();
}
"""
LINES = SOURCE.splitlines()


def marked_after(kernel: str) -> int:
    first = next(k for k, line in enumerate(LINES) if f"void {kernel}(" in line)
    return next(k for k, line in enumerate(LINES[first:], first + 1) if "// BUG" in line)


@pytest.fixture(scope="module")
def module() -> fp.Module:
    return fp.compile(SOURCE, "sm_80")


def sanitized(kernel: fp.Kernel, n: int, block: int, grid: int | None = None) -> list[Finding]:
    x, out = np.ones(n, np.float32), np.zeros(n, np.float32)
    return fp.sanitize(kernel, grid or -(-n // block), block, [x, out, n], seeds=SEEDS)


AROUND = ["around", "around_and_reads", "around_in_a_loop", "leaves_a_loop"]
RETURNED = ["returned", "returned_in_a_loop"]
# The border lies in a warp, of a full block and of one whose last warp is short; the last has warps wholly
# outside and none that is parted.
BORDERS = [(1000, 256), (300, 256), (490, 250), (320, 256)]


@pytest.mark.parametrize(("n", "block"), BORDERS)
@pytest.mark.parametrize("name", AROUND)
def test_who_goes_around_a_barrier_to_the_end_is_found(
    module: fp.Module, name: str, n: int, block: int
) -> None:
    findings = [each for each in sanitized(module[name], n, block) if each.kind != "race"]
    assert [(each.kind, each.line) for each in findings] == [("divergent-barrier", marked_after(name))]
    assert "without coming" in findings[0].message


@pytest.mark.parametrize("name", ["around_in_a_loop", "leaves_a_loop"])
def test_also_in_a_later_round(module: fp.Module, name: str) -> None:
    kinds = {each.kind for each in sanitized(module[name], 1000, 256, grid=1)}
    assert "divergent-barrier" in kinds


@pytest.mark.parametrize(("n", "block"), BORDERS)
@pytest.mark.parametrize("name", [*RETURNED, "for_all"])
def test_who_returned_before_is_not_waited_for(module: fp.Module, name: str, n: int, block: int) -> None:
    assert sanitized(module[name], n, block) == []


@pytest.mark.parametrize("name", AROUND)
@pytest.mark.parametrize(("n", "block"), [(512, 256), (500, 250), (256, 256)])
def test_a_branch_that_whole_blocks_share_is_fine(module: fp.Module, name: str, n: int, block: int) -> None:
    assert sanitized(module[name], n, block, grid=n // block + 1) == []


def test_threads_that_go_around_are_counted(module: fp.Module) -> None:
    (parted,) = sanitized(module["around"], 490, 250)  # 240 of the last block: of its warp 7, 16 of 26
    assert "10 threads of it ended without coming" in parted.message
    (whole,) = sanitized(module["around"], 320, 256)
    assert "192 of 256 threads of the block ended without coming" in whole.message


def test_without_the_source_they_cannot_be_told_apart(module: fp.Module) -> None:
    """Were they ever not the same code, the source need not be asked."""
    around, returned = (
        re.sub(r"\s*\.loc.*|\$L__BB\d+|" + name, "", module[name].ptx) for name in ("around", "returned")
    )
    assert around == returned
