"""What a launch on the virtual GPU counts, where the right number is known."""

from __future__ import annotations

import json

import numpy as np
import pytest

import flashpath as fp
from flashpath import gpus
from flashpath.vgpu.report import Report
from flashpath.vgpu.report.report import roofline_of

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


def test_what_is_read_and_written_moves_twice() -> None:
    in_place = 'extern "C" __global__ void k(float* x) { x[threadIdx.x] *= 2; }'
    report = fp.profile(fp.compile(in_place, "sm_80")["k"], 1, 128, (np.ones(256, np.float32),))
    assert report.dram_bytes == 2 * 128 * 4
    assert report.footprint.global_touched == 128 * 4


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


TILE = """__constant__ float scale = 2;
__device__ float seen[3];

extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float s[64];
  extern __shared__ float more[];
  s[threadIdx.x] = x[threadIdx.x] * scale;
  more[threadIdx.x] = s[threadIdx.x ^ 1] + 1;
  __syncthreads();
  if (threadIdx.x < 32) y[threadIdx.x + 8] = more[threadIdx.x ^ 2];
  if (threadIdx.x == 0) seen[1] = 1;
}
"""


def test_the_memory_that_a_launch_needs() -> None:
    kernel = fp.compile(TILE, "sm_80")["k"]
    x, y = np.zeros(1000, np.float32), np.zeros(50, np.float32)
    used = fp.profile(kernel, 1, 64, (x, y), shared=256).footprint
    assert (used.static_shared, used.dynamic_shared) == (256, 256)
    assert used.registers == kernel.resources.registers
    assert used.local == 0
    # The arrays, and the 12 bytes of `seen`, all of which lie in a sector that is touched.
    assert used.global_allocated == 4000 + 200 + 12
    assert used.global_touched == 64 * 4 + 32 * 4 + 12


def test_touched_bytes_end_with_the_array() -> None:
    kernel = fp.compile(COPY, "sm_80")["k"]
    x, y = np.zeros(40, np.float32), np.zeros(40, np.float32)
    report = fp.profile(kernel, 1, 33, (x[3:36], y[:33], 1))
    assert report.footprint.global_allocated == 2 * 33 * 4
    assert report.footprint.global_touched == 2 * 33 * 4
    assert report.dram_bytes == (5 + 5) * 32


def test_classes_and_lines_add_up() -> None:
    kernel = fp.compile(TILE, "sm_80")["k"]
    report = fp.profile(kernel, 1, 64, (np.zeros(64, np.float32), np.zeros(64, np.float32)), shared=256)
    counts = report.instructions_by_class
    assert sum(counts.values()) == report.instructions
    assert counts["float32"] == 2 * 64
    assert counts["global load"] == 64
    assert counts["constant load"] == 64
    assert counts["global store"] == 32 + 1
    assert counts["barrier"] == 64
    for name in ("instructions", "global_sectors", "bank_conflicts", "flops", "divergent_branches"):
        assert sum(getattr(line, name) for line in report.lines) == getattr(report, name), name
    by_line = {line.line: line for line in report.lines}
    assert by_line[7].global_load == report.global_load
    assert by_line[7].instructions_by_class["constant load"] == 64
    assert by_line[9].instructions_by_class == {"barrier": 64}


def test_constant_memory_is_no_global_load() -> None:
    kernel = fp.compile(TILE, "sm_80")["k"]
    report = fp.profile(kernel, 1, 64, (np.zeros(64, np.float32), np.zeros(64, np.float32)), shared=256)
    assert report.global_load.requests == 2


LOCAL = """extern "C" __global__ void k(int* out, int n) {
  volatile int own[8];
  for (int i = 0; i < n; ++i) own[i] = i;
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += own[(i + n) % 8];
  atomicAdd(&out[threadIdx.x % 2], sum);
  atomicMax(&out[2 + threadIdx.x], sum);
}"""


def test_local_memory_and_atomics_in_turn() -> None:
    out = np.zeros(66, np.int32)
    report = fp.profile(fp.compile(LOCAL, "sm_80")["k"], 1, 64, (out, 5))
    assert report.local_store.requests == report.local_load.requests == 2 * 5
    assert report.local_store.sectors == 2 * 5 * 4
    assert report.local_load.bytes == 2 * 5 * 128
    assert report.global_load.requests == report.global_store.requests == 0
    # 16 lanes meet at each of two addresses; then every lane has one of its own.
    assert (report.atomics.requests, report.atomics.turns) == (4, 2 * (16 + 1))
    assert report.atomics.turns_per_request == 8.5
    assert [report.access(line, "atomic").turns for line in (6, 7)] == [16, 1]
    assert "34 turns (8.50 a request)" in str(report)
    assert "local loads (PTX)" in str(report)


def test_the_busiest_units_bound_the_arithmetic() -> None:
    a100 = gpus.gpu("A100")
    report = Report(dram_bytes=1000, tensor_operations={"f16": 312_000_000, "s8": 100})
    report.flops_by_type = {"f32": 1_000_000}
    found = roofline_of(a100, report)
    assert (found.peak, found.flops, found.bound) == ("fp16_tensor", 312_000_000, "compute")
    assert found.least_seconds == pytest.approx(1e-6)
    # A twentieth of the operations, on units that are sixteen times slower: nearly the same time, yet less.
    report.flops_by_type = {"f32": 312_000_000 // 20}
    assert roofline_of(a100, report).peak == "fp16_tensor"
    report.flops_by_type = {"f32": 312_000_000 // 10}
    assert roofline_of(a100, report).peak == "fp32"
    report = Report(tensor_operations={"f64": 1}, flops_by_type={"f64": 1})
    assert roofline_of(a100, report).peak == "fp64"
    assert roofline_of(a100, Report(tensor_operations={"s8": 5})).peak == "int8_tensor"
    # No profile says how fast single bits are multiplied.
    bits = roofline_of(a100, Report(dram_bytes=320, tensor_operations={"b1": 5}))
    assert (bits.flops, bits.bytes, bits.bound) == (0, 320, "memory")


def test_a_report_as_json() -> None:
    kernel = fp.compile(COPY, "sm_80")["k"]
    x, y = np.zeros(256, np.float32), np.zeros(256, np.float32)
    report = fp.profile(kernel, 1, 256, (x, y, 1))
    read = json.loads(json.dumps(report.to_dict()))
    assert read["global_load"]["sectors_per_request"] == 4
    assert read["active_lanes"] == 32
    assert read["grid"] == [1, 1, 1]
    assert read["footprint"]["global_touched"] == 2048
    assert read["roofline"]["bound"] == "memory"
    assert read["instructions_by_class"]["global load"] == 256
    assert [line["line"] for line in read["lines"]] == [line.line for line in report.lines]
    assert len(read["traced"][0]["addresses"]) == 32
    endless = Report(roofline=gpus.roofline(gpus.gpu("A100"), 0, 1)).to_dict()
    assert endless["roofline"]["intensity"] is None


def test_a_block_counts_the_same_whatever_ran_before_it() -> None:
    """How long a diverged warp has gone on with some of its lanes is a matter of its own block."""
    kernel = fp.compile(
        """
        extern "C" __global__ void k(int* out) {
            int i = threadIdx.x, x = i;
            for (int round = 0; round < 40; round++) {
                for (int j = 0; j < i % 5 * 7; j++) x = x * 5 + j;
                if (i % 3 == round % 3) x ^= round;
            }
            out[blockIdx.x * 32 + i] = x;
        }""",
        "sm_80",
    )["k"]

    def instructions(blocks: int) -> int:
        out = np.zeros(32 * blocks, np.int32)
        return fp.profile(kernel, grid=blocks, block=32, args=(out,)).warp_instructions

    one = instructions(1)
    assert [instructions(blocks) for blocks in (1, 3, 17)] == [one, 3 * one, 17 * one]


def test_parameters_are_no_global_memory_however_they_are_read() -> None:
    """Compilers read them by name or through a generic address; both are constants on hardware."""
    kernel = fp.compile(
        """
        struct Table { int of[32]; };
        extern "C" __global__ void k(const __grid_constant__ Table table, int* out) {
            const int* place = table.of;
            asm volatile("" : "+l"(place));
            int i = threadIdx.x;
            out[i] = place[i] + place[3] + place[i * 7 % 32];
        }""",
        "sm_80",
    )["k"]
    assert "cvta.param" in kernel.ptx
    out, table = np.zeros(32, np.int32), np.arange(32, dtype=np.int32)
    report = fp.profile(kernel, grid=1, block=32, args=(table.view([("of", np.int32, 32)]), out))
    assert out.tolist() == [i + 3 + i * 7 % 32 for i in range(32)]
    assert (report.global_load.requests, report.global_load.sectors, report.global_load.bytes) == (0, 0, 0)
    assert report.global_store.sectors == 4
