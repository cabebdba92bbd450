"""What a launch on the virtual GPU counts, where the right number is known."""

from __future__ import annotations

import numpy as np
import pytest

import flashpath as fp

COPY = """extern "C" __global__ void k(const float* x, float* y, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i * stride];
}"""


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (4, 16), (8, 32), (32, 32), (0, 1)])
def test_sectors_of_strided_loads(stride: int, sectors: int) -> None:
    kernel = fp.compile(COPY, "sm_80")["k"]
    x, y = np.zeros(256 * max(stride, 1), np.float32), np.zeros(256, np.float32)
    report = fp.profile(kernel, 2, 128, (x, y, stride))
    assert report.global_load.requests == 8
    assert report.global_load.sectors == 8 * sectors
    assert report.global_load.sectors_per_request == sectors
    assert report.global_load.bytes == 256 * 4
    assert report.global_store.sectors_per_request == 4
    touched = max(1, 256 * min(stride, 8) // 8)
    assert report.dram_bytes == (touched + 32) * 32


def test_an_offset_costs_a_sector() -> None:
    kernel = fp.compile(COPY, "sm_80")["k"]
    x, y = np.zeros(33, np.float32), np.zeros(32, np.float32)
    assert fp.profile(kernel, 1, 32, (x[1:], y, 1)).global_load.sectors == 5


@pytest.mark.parametrize(("stride", "ways"), [(1, 1), (2, 2), (32, 32), (33, 1), (0, 1)])
def test_bank_conflicts(stride: int, ways: int) -> None:
    kernel = fp.compile(
        """extern "C" __global__ void k(float* y, int stride) {
            extern __shared__ float s[];
            s[threadIdx.x * stride] = 1;
            __syncthreads();
            y[threadIdx.x] = s[threadIdx.x * stride];
        }""",
        "sm_80",
    )["k"]
    report = fp.profile(kernel, 1, 32, (np.zeros(32, np.float32), stride), shared=33 * 32 * 4)
    for traffic in (report.shared_load, report.shared_store):
        assert (traffic.requests, traffic.wavefronts, traffic.bank_conflicts) == (1, ways, ways - 1)


@pytest.mark.parametrize(("period", "divergent"), [(2, 4), (32, 4), (64, 0)])
def test_divergent_branches(period: int, divergent: int) -> None:
    kernel = fp.compile(
        """extern "C" __global__ void k(volatile int* x, int period) {
            if (threadIdx.x / (period / 2) % 2) { x[threadIdx.x] = 1; x[threadIdx.x] = 3; }
        }""",
        "sm_80",
    )["k"]
    report = fp.profile(kernel, 1, 128, (np.zeros(128, np.int32), period))
    assert report.divergent_branches == divergent
    assert (report.active_lanes == 32) == (divergent == 0)


def test_the_report_as_a_whole() -> None:
    kernel = fp.compile(COPY.replace("x[i * stride]", "fmaf(x[i], 2.f, 1.f) * x[i]"), "sm_80")["k"]
    x, y = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    report = fp.profile(kernel, 4, 256, (x, y, 1), device="H200")
    assert (y == 3).all()
    assert report.gpu == "H200"
    assert report.active_lanes == 32
    assert report.instructions == 32 * report.warp_instructions
    assert report.flops == 3 * 1024
    assert report.dram_bytes == 2 * 4096
    assert report.occupancy is not None
    assert report.occupancy.fraction == 1
    assert report.roofline is not None
    assert report.roofline.bound == "memory"
    (line,) = [line for line in report.lines if line.line == 3]
    assert line.global_load == report.global_load
    assert line.file == kernel.virtual.program.files[1]
    text = str(report)
    for part in ("k on the virtual GPU (H200)", "(PTX)", "4.00 a request", "not a measured time"):
        assert part in text


def test_counting_changes_no_result_and_no_launch_counts_for_another() -> None:
    kernel = fp.compile(COPY, "sm_80")["k"]
    x = np.random.default_rng(0).standard_normal(64, dtype=np.float32)
    y, z = np.zeros(64, np.float32), np.zeros(64, np.float32)
    kernel[1, 64](x, y, 1)
    first = fp.profile(kernel, 1, 64, (x, z, 1))
    assert np.array_equal(y, z)
    assert fp.profile(kernel, 1, 64, (x, z, 1)) == first
