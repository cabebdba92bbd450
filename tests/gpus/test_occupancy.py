"""Occupancy: by hand, by property, and against NVIDIA's own calculator."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashpath.errors import FlashpathError
from flashpath.gpus import Architecture, architecture, archs, gpu, occupancy

ARCHITECTURES = [architecture(capability) for capability in sorted({arch.capability for arch in archs()})]

# Every kernel that can be launched somewhere: sizes just past the limits as well.
architectures = st.sampled_from(ARCHITECTURES)
thread_counts = st.integers(1, 1100)
register_counts = st.integers(0, 260)
shared_sizes = st.integers(0, 230 * 1024)


@pytest.mark.parametrize(
    ("name", "threads", "registers", "shared", "blocks", "fraction", "limit"),
    [
        # 64 warps of 32 registers are the whole file: warps and registers tie, the SM's own ceiling is named.
        ("A100", 256, 32, 0, 8, 1.0, "warps"),
        # 33 registers are allocated as 40: 16384 / 1280 = 12 warps a partition, 48 an SM, 6 blocks of 8.
        ("A100", 256, 33, 0, 6, 0.75, "registers"),
        # 32 blocks of one warp: the SM has no 33rd place for a block.
        ("A100", 32, 16, 0, 32, 0.5, "blocks"),
        # 48 KiB and the reserved KiB: three times 49 is 147 of 164 KiB.
        ("A100", 128, 32, 48 * 1024, 3, 12 / 64, "shared memory"),
        ("H100", 384, 80, 227 * 1024, 1, 12 / 64, "shared memory"),
        # 168 registers: 16384 / 5376 = 3 warps a partition, 12 an SM: one block of 12 warps.
        ("H200", 384, 168, 0, 1, 12 / 64, "registers"),
        # 1536 threads an SM hold one block of 1024 only.
        ("RTX 4090", 1024, 32, 0, 1, 32 / 48, "warps"),
        ("RTX 3090", 32, 32, 0, 16, 16 / 48, "blocks"),
        ("RTX 4090", 32, 32, 0, 24, 24 / 48, "blocks"),
        # Turing reserves nothing: two blocks of 32 KiB fill its 64 KiB exactly.
        ("T4", 128, 32, 32 * 1024, 2, 8 / 32, "shared memory"),
        # One byte more takes 256 bytes more there, and only one block fits.
        ("T4", 128, 32, 32 * 1024 + 1, 1, 4 / 32, "shared memory"),
        # 96 registers: 16384 / 3072 = 5 warps a partition, 20 an SM: 4 blocks of 5 warps, none rounded to 8.
        ("B200", 160, 96, 0, 4, 20 / 64, "registers"),
    ],
)
def test_by_hand(
    name: str, threads: int, registers: int, shared: int, blocks: int, fraction: float, limit: str
) -> None:
    found = occupancy(gpu(name), threads, registers, shared)
    assert (found.blocks_per_sm, found.fraction, found.limit) == (blocks, fraction, limit)
    assert found.warps_per_sm == blocks * -(-threads // 32)
    assert found.reason is None


def test_limits_tell_what_each_resource_would_allow() -> None:
    found = occupancy(gpu("A100"), 128, 40, 20 * 1024)
    assert found.limits == {"warps": 16, "blocks": 32, "registers": 12, "shared memory": 7}
    unused = occupancy(gpu("T4"), 128, 0, 0)
    assert unused.limits == {"warps": 8, "blocks": 16, "registers": None, "shared memory": None}


@pytest.mark.parametrize(
    ("threads", "registers", "shared", "limit", "reason"),
    [
        (1025, 32, 0, "threads per block", "at most 1024 threads, this one has 1025"),
        (1025, 300, 300 * 1024, "threads per block", "at most 1024 threads, this one has 1025"),
        (32, 256, 0, "registers", "at most 255 registers, this one needs 256"),
        (1024, 65, 0, "registers", "1024 threads with 65 registers each do not fit"),
        (1024, 65, 300 * 1024, "registers", "1024 threads with 65 registers each do not fit"),
        (
            32,
            32,
            163 * 1024 + 1,
            "shared memory",
            "at most 166912 bytes of shared memory on compute capability 8.0",
        ),
    ],
)
def test_a_block_that_cannot_run(threads: int, registers: int, shared: int, limit: str, reason: str) -> None:
    found = occupancy(gpu("A100"), threads, registers, shared)
    assert (found.blocks_per_sm, found.warps_per_sm, found.fraction, found.limit) == (0, 0, 0.0, limit)
    assert found.reason is not None
    assert reason in str(found.reason)


@pytest.mark.parametrize(
    ("threads", "registers", "shared"), [(0, 32, 0), (-32, 32, 0), (32, -1, 0), (32, 32, -1)]
)
def test_nonsense_is_refused(threads: int, registers: int, shared: int) -> None:
    with pytest.raises(FlashpathError, match="got"):
        occupancy(gpu("A100"), threads, registers, shared)


@given(architectures, thread_counts, register_counts, shared_sizes)
def test_limit_is_the_least_of_the_limits(
    sm: Architecture, threads: int, registers: int, shared: int
) -> None:
    found = occupancy(sm, threads, registers, shared)
    assert found.blocks_per_sm == min(blocks for blocks in found.limits.values() if blocks is not None)
    assert 0 <= found.fraction <= 1
    assert (found.reason is None) == (found.blocks_per_sm > 0)
    if found.limit != "threads per block":
        assert found.limits[found.limit] == found.blocks_per_sm


@given(architectures, thread_counts, register_counts, shared_sizes, st.integers(0, 64))
def test_more_registers_never_raise_it(
    sm: Architecture, threads: int, registers: int, shared: int, more: int
) -> None:
    before = occupancy(sm, threads, registers, shared).blocks_per_sm
    assert occupancy(sm, threads, registers + more, shared).blocks_per_sm <= before


@given(architectures, thread_counts, register_counts, shared_sizes, st.integers(0, 32 * 1024))
def test_more_shared_memory_never_raises_it(
    sm: Architecture, threads: int, registers: int, shared: int, more: int
) -> None:
    before = occupancy(sm, threads, registers, shared).blocks_per_sm
    assert occupancy(sm, threads, registers, shared + more).blocks_per_sm <= before


@given(architectures, thread_counts, register_counts, shared_sizes, st.integers(0, 256))
def test_larger_blocks_never_fit_more_often(
    sm: Architecture, threads: int, registers: int, shared: int, more: int
) -> None:
    before = occupancy(sm, threads, registers, shared).blocks_per_sm
    assert occupancy(sm, threads + more, registers, shared).blocks_per_sm <= before


@given(architectures, st.integers(1, 1024), st.integers(1, 255), shared_sizes)
def test_what_is_resident_fits_the_sm(sm: Architecture, threads: int, registers: int, shared: int) -> None:
    found = occupancy(sm, threads, registers, shared)
    assert found.warps_per_sm * 32 * registers <= sm.registers_per_sm
    reserved = sm.reserved_shared_per_block_bytes
    assert found.blocks_per_sm * (shared + reserved) <= sm.max_shared_per_sm_bytes


# One line of numbers in, one line of numbers out.
_CALCULATOR = r"""
#include <cstdio>
#include <cuda_occupancy.h>
int main() {
  cudaOccDeviceProp sm;
  sm.maxThreadsPerBlock = 1024; sm.regsPerBlock = sm.regsPerMultiprocessor = 65536; sm.warpSize = 32;
  sm.sharedMemPerBlock = 48 * 1024; sm.numSms = 1;
  int threads, registers, shared;
  while (scanf("%d %d %d %zu %zu %zu %d %d %d", &sm.computeMajor, &sm.computeMinor,
               &sm.maxThreadsPerMultiprocessor, &sm.sharedMemPerMultiprocessor, &sm.sharedMemPerBlockOptin,
               &sm.reservedSharedMemPerBlock, &threads, &registers, &shared) == 9) {
    cudaOccFuncAttributes kernel = {};
    kernel.maxThreadsPerBlock = 1024; kernel.numRegs = registers;
    kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    kernel.maxDynamicSharedSizeBytes = sm.sharedMemPerBlockOptin;
    cudaOccDeviceState state; cudaOccResult found;
    int error = cudaOccMaxActiveBlocksPerMultiprocessor(&found, &sm, &kernel, &state, threads, shared);
    printf("%d %d %d %d %d %d\n", error, found.activeBlocksPerMultiprocessor, found.blockLimitWarps,
           found.blockLimitBlocks, found.blockLimitRegs, found.blockLimitSharedMem);
  }
}
"""
_NO_LIMIT = 2**31 - 1


@pytest.fixture(scope="module")
def calculator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """NVIDIA's occupancy calculator, a header of the CUDA runtime package, compiled as a program."""
    compiler = shutil.which("c++")
    if compiler is None:
        pytest.skip("no C++ compiler to build NVIDIA's calculator with")
    package = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in (package.submodule_search_locations or [])] if package else []
    headers = [header for root in roots for header in root.glob("cu13/include/cuda_occupancy.h")]
    if not headers:
        pytest.skip("the package nvidia-cuda-runtime is not installed")
    folder = tmp_path_factory.mktemp("calculator")
    (folder / "main.cpp").write_text(_CALCULATOR)
    command = [compiler, "-w", "-I", str(headers[0].parent), "main.cpp", "-o", "calculator"]
    subprocess.run(command, cwd=folder, check=True)
    return folder / "calculator"


def test_same_as_nvidias_calculator(calculator: Path) -> None:
    threads = [1, 31, 32, 33, 64, 96, 128, 160, 192, 256, 384, 480, 512, 640, 768, 992, 1024, 1025]
    registers = [0, 1, 8, 16, 24, 32, 33, 40, 41, 48, 64, 65, 72, 80, 96, 104, 128, 129, 168, 224, 255]
    shared = [
        0,
        1,
        127,
        128,
        129,
        1000,
        8192,
        16256,
        16384,
        32768,
        49152,
        65536,
        65537,
        101376,
        166912,
        232448,
    ]
    cases = list(product(ARCHITECTURES, threads, registers, shared))
    lines = [
        f"{sm.major} {sm.minor} {sm.max_threads_per_sm} {sm.max_shared_per_sm_bytes} "
        f"{sm.max_shared_per_block_bytes} {sm.reserved_shared_per_block_bytes} {t} {r} {s}"
        for sm, t, r, s in cases
    ]
    output = subprocess.run(
        [calculator], input="\n".join(lines), capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert len(output) == len(cases)
    for (sm, t, r, s), line in zip(cases, output, strict=True):
        found = occupancy(sm, t, r, s)
        each = [_NO_LIMIT if blocks is None else blocks for blocks in found.limits.values()]
        theirs = [int(number) for number in line.split()]
        assert [0, found.blocks_per_sm, *each] == theirs, (sm.capability, t, r, s)
