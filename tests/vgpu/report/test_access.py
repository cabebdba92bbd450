"""The addresses of one access, against those that the source's indices give."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import flashpath as fp
from flashpath.errors import FlashpathError
from flashpath.vgpu.report import Report, Trace

SOURCE = """struct alignas(16) Four { float x[4]; };

extern "C" __global__ void strided(const float* x, float* y, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i * stride];
  y[i] = v;
}

extern "C" __global__ void shared(float* y, int stride, int wide) {
  extern __shared__ float s[];
  s[threadIdx.x * stride] = 1;
  __syncthreads();
  Four four = *(Four*)(s + threadIdx.x * wide);
  y[threadIdx.x] = four.x[0] + four.x[1] + four.x[2] + four.x[3];
}

extern "C" __global__ void late(float* y) {
  for (int k = 0; k < 3; ++k)
    if (threadIdx.x >= 64) atomicAdd(y + k * 32 + threadIdx.x % 4, 1.f);
}

extern "C" __global__ void odd(float* y) {
  if (threadIdx.x % 2) y[threadIdx.x] = 1;
}

extern "C" __global__ void counted(int* y, int modulus) {
  __shared__ int bins[32];
  atomicAdd(&bins[threadIdx.x % modulus], 1);
  __syncthreads();
  y[threadIdx.x] = bins[threadIdx.x];
}
"""


@pytest.fixture(scope="module")
def kernels() -> fp.Module:
    return fp.compile(SOURCE, "sm_80")


def strided(kernels: fp.Module, stride: int, trace: Trace | None = None) -> Report:
    x, y = np.zeros(256 * max(stride, 1), np.float32), np.zeros(256, np.float32)
    return fp.profile(kernels["strided"], 2, 128, (x, y, stride), trace=trace or Trace())


@pytest.mark.parametrize("stride", [0, 1, 3, 8])
def test_addresses_of_a_strided_load(kernels: fp.Module, stride: int) -> None:
    report = strided(kernels, stride)
    access = report.access(5)
    assert (access.kind, access.space, access.size, access.opcode) == ("load", "global", 4, "ld.global.f32")
    assert (access.block, access.warp, access.argument) == ((0, 0, 0), 0, 0)
    assert access.array == "argument 0 (const float*)"
    assert access.addresses == tuple(access.base + 4 * stride * lane for lane in range(32))
    touched = {4 * stride * lane // 32 for lane in range(32)}
    assert [(sector.address - access.base) // 32 for sector in access.sectors] == sorted(touched)
    assert 8 * len(access.sectors) == report.global_load.sectors
    assert access.ideal_sectors == (1 if stride == 0 else 4)


def test_who_wants_which_bytes_of_a_sector(kernels: fp.Module) -> None:
    first, second, *_ = strided(kernels, 4).access(5).sectors
    assert (first.lanes, second.lanes) == ((0, 1), (2, 3))
    assert first.used == 0x000F000F
    assert first.bytes_used == 8


def test_lanes_that_take_no_part_have_no_address(kernels: fp.Module) -> None:
    access = fp.profile(kernels["odd"], 1, 32, (np.zeros(32, np.float32),)).access(23, "store")
    assert access.lanes == tuple(range(1, 32, 2))
    assert access.addresses[:3] == (None, access.base + 4, None)
    assert [sector.bytes_used for sector in access.sectors] == [16] * 4
    assert (len(access.sectors), access.ideal_sectors) == (4, 2)


def test_a_trace_of_a_chosen_warp(kernels: fp.Module) -> None:
    for block in (1, (1, 0, 0)):
        access = strided(kernels, 2, Trace(block=block, warp=3)).access(5)
        assert (access.block, access.warp) == ((1, 0, 0), 3)
        assert access.addresses[0] == access.base + 4 * 2 * (128 + 3 * 32)
    assert strided(kernels, 2, Trace(requests=0)).traced == ()


@pytest.mark.parametrize("trace", [{"block": 2}, {"block": (0, 1, 0)}, {"requests": -1}, {"warp": -1}])
def test_an_impossible_trace_is_refused(kernels: fp.Module, trace: dict[str, int]) -> None:
    with pytest.raises(FlashpathError):
        strided(kernels, 1, Trace(**trace))


def test_the_first_requests_whoever_makes_them(kernels: fp.Module) -> None:
    y = np.zeros(96, np.float32)
    report = fp.profile(kernels["late"], 1, 128, (y,), trace=Trace(requests=2))
    found = report.accesses(kind="atomic")
    assert {access.warp for access in found} <= {2, 3}
    assert len(found) in (2, 6)  # a loop, or the same unrolled
    first = found[0]
    assert first.addresses == tuple(first.base + 4 * (lane % 4) for lane in range(32))
    assert len(first.sectors) == 1
    assert len(first.sectors[0].lanes) == 32


def shared(kernels: fp.Module, stride: int, wide: int) -> Report:
    arguments = (np.zeros(32, np.float32), stride, wide)
    return fp.profile(kernels["shared"], 1, 32, arguments, shared=33 * 32 * 4)


@pytest.mark.parametrize(("modulus", "turns"), [(32, 1), (4, 8), (1, 32)])
def test_lanes_change_one_word_in_turn(kernels: fp.Module, modulus: int, turns: int) -> None:
    report = fp.profile(kernels["counted"], 1, 32, (np.zeros(32, np.int32), modulus))
    access = report.access(28, "atomic", space="shared")
    assert access.turns == report.atomics.turns == turns
    assert access.wavefronts == report.shared_atomic.wavefronts == turns
    assert access.bank_conflicts == report.shared_atomic.bank_conflicts == turns - 1
    assert all(len(lanes) <= 1 for each in access.passes for lanes in each.banks)


@pytest.mark.parametrize("stride", [0, 1, 2, 12, 32, 33])
def test_the_banks_of_a_store(kernels: fp.Module, stride: int) -> None:
    report = shared(kernels, stride, 0)
    access = report.access(11)
    assert (access.kind, access.space, access.array) == ("store", "shared", "")
    assert access.addresses == tuple(4 * stride * lane for lane in range(32))
    assert access.wavefronts == report.shared_store.wavefronts
    assert access.bank_conflicts == report.shared_store.bank_conflicts
    served: list[tuple[int, int]] = []
    for each in access.passes:
        served += [(lane, bank) for bank, lanes in enumerate(each.banks) for lane in lanes]
    assert sorted(served) == [(lane, stride * lane % 32) for lane in range(32)]


def test_a_broadcast_is_no_conflict(kernels: fp.Module) -> None:
    (only,) = shared(kernels, 0, 0).access(11).passes
    assert only.banks[0] == tuple(range(32))
    assert not only.is_conflict


@pytest.mark.parametrize(("wide", "conflicts"), [(4, 0), (8, 4), (16, 12)])
def test_wide_loads_go_a_quarter_of_a_warp_at_a_time(kernels: fp.Module, wide: int, conflicts: int) -> None:
    report = shared(kernels, 1, wide)
    access = report.access(13, space="shared")
    assert access.size == 16
    assert access.bank_conflicts == report.shared_load.bank_conflicts == conflicts
    assert access.wavefronts == report.shared_load.wavefronts
    assert access.passes[0].lanes[0] == 0
    assert all(lane < 8 for lane in access.passes[0].lanes)


def test_wide_loads_in_pairs_go_half_a_warp_at_a_time(kernels: fp.Module) -> None:
    report = shared(kernels, 1, 0)
    access = report.access(13, space="shared")
    assert access.wavefronts == report.shared_load.wavefronts == 2
    assert access.passes[0].banks[3] == tuple(range(16))


def test_what_was_not_traced_is_told(kernels: fp.Module) -> None:
    report = strided(kernels, 1)
    with pytest.raises(FlashpathError) as refused:
        report.access(4)
    assert "Line 4 has 0 traced accesses" in str(refused.value)
    assert "5, 6" in str(refused.value)
    with pytest.raises(FlashpathError, match="request 1 was asked for"):
        report.access(5, "load", 1)


def test_threads_of_the_host_change_no_trace(kernels: fp.Module) -> None:
    x, y = np.zeros(64 * 128, np.float32), np.zeros(64 * 128, np.float32)
    one, four = (
        fp.profile(kernels["strided"], 64, 128, (x, y, 1), trace=Trace(requests=3), threads=threads)
        for threads in (1, 4)
    )
    assert len(one.traced) == 2 * 3
    assert one == four


def test_an_access_is_a_value(kernels: fp.Module) -> None:
    one, two = strided(kernels, 2).access(5), strided(kernels, 2).access(5)
    assert one == two
    assert dataclasses.replace(one, warp=1) != two
