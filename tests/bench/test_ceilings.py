from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch

from flashpath.bench.ceilings import (
    LEAST_CPU_BYTES,
    MOST_CPU_BYTES,
    Bound,
    Ceilings,
    ceilings_of_cpu_case,
    measure_ceilings,
)
from flashpath.bench.timer import CpuTimer, Function, Sampler, nothing
from flashpath.kernels.rung import Case

KNOWN = Ceilings(copy_bytes_per_s=100.0, read_bytes_per_s=200.0, flops_per_s={"fp32": 10.0, "bf16": 1000.0})


def case(moved: int, flops: int, dtype: str = "float32") -> Case:
    return Case("c", inputs=lambda _: (), bytes=moved, flops=flops, dtype=dtype)


def test_the_ceiling_that_takes_longest_bounds_the_case() -> None:
    assert KNOWN.bound(case(1000, 10)) == Bound("copy", 10.0)
    assert KNOWN.bound(case(1000, 200)) == Bound("fp32 GEMM", 20.0)
    assert KNOWN.bound(case(1000, 200, "bfloat16")) == Bound("copy", 10.0)


def test_a_case_that_hardly_writes_is_bounded_by_reading() -> None:
    assert KNOWN.bound(case(1000, 0), written_bytes=10) == Bound("read", 5.0)
    assert KNOWN.bound(case(1000, 0), written_bytes=500) == Bound("copy", 10.0)


def test_no_cost_or_no_ceiling_gives_no_bound() -> None:
    assert KNOWN.bound(case(0, 0)) is None
    assert KNOWN.bound(case(0, 10, "int8")) is None
    assert Ceilings().bound(case(1000, 10)) is None


def test_rates_are_amounts_over_the_median() -> None:
    each_call_a_millisecond = CpuTimer(itertools.count(step=1_000_000).__next__)
    ceilings = measure_ceilings("cpu", ["float32"], quick=True, timer=each_call_a_millisecond)
    assert ceilings.copy_bytes_per_s == pytest.approx(2**25 / 1e-3)
    assert ceilings.read_bytes_per_s == pytest.approx(2**25 / 1e-3)
    assert ceilings.flops_per_s == {"fp32": pytest.approx(2 * 256**3 / 1e-3)}


def test_a_cpu_case_is_measured_with_its_own_size(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[int | None] = []

    def measure(*_given: Any, moved_bytes: int | None = None) -> Ceilings:
        moved.append(moved_bytes)
        return KNOWN

    monkeypatch.setattr("flashpath.bench.ceilings.measure_ceilings", measure)
    assert ceilings_of_cpu_case(case(2**22, 10)) == KNOWN
    assert ceilings_of_cpu_case(case(2**40, 10)) == KNOWN
    assert ceilings_of_cpu_case(case(0, 10)) == KNOWN
    assert ceilings_of_cpu_case(case(LEAST_CPU_BYTES - 1, 10)) == Ceilings()  # all call, no bandwidth
    assert moved == [2**22, MOST_CPU_BYTES, 0]


def test_bandwidth_may_be_left_out() -> None:
    ceilings = measure_ceilings("cpu", ["float32"], quick=True, moved_bytes=0)
    assert (ceilings.copy_bytes_per_s, ceilings.read_bytes_per_s) == (None, None)
    assert ceilings.flops_per_s["fp32"] > 0


def test_each_arithmetic_is_measured_once_and_gpu_ones_fail_on_a_cpu() -> None:
    ceilings = measure_ceilings(
        "cpu", ["bfloat16", "bf16", "tf32", "float8_e4m3fn", "int32"], quick=True, timer=CpuTimer()
    )
    assert list(ceilings.flops_per_s) == ["bf16"]
    assert ceilings.flops_per_s["bf16"] > 0
    assert set(ceilings.failed) == {"tf32", "fp8"}
    assert "GPU" in ceilings.failed["tf32"]


def test_the_matmul_precision_of_the_caller_is_left_alone() -> None:
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision("high")
        measure_ceilings("cpu", ["float32"], quick=True)
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.set_float32_matmul_precision(before)


def test_ctrl_c_ends_the_measurement() -> None:
    class Interrupted(CpuTimer):
        def sampler(self, function: Function, before: Function = nothing) -> Sampler:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_ceilings("cpu", [], quick=True, timer=Interrupted())


@pytest.mark.gpu
def test_gpu_ceilings_stand_in_the_order_of_the_hardware() -> None:
    ceilings = measure_ceilings("cuda", ["float32", "tf32", "bfloat16", "float16"], quick=True)
    assert ceilings.copy_bytes_per_s is not None
    assert ceilings.read_bytes_per_s is not None
    assert ceilings.read_bytes_per_s > 0.8 * ceilings.copy_bytes_per_s
    rates = ceilings.flops_per_s
    assert rates["bf16"] > 2 * rates["fp32"]
    if torch.cuda.get_device_capability() >= (8, 0):
        assert rates["tf32"] > 1.5 * rates["fp32"]


@pytest.mark.gpu
def test_fp8_is_faster_than_bf16_where_there_is_fp8() -> None:
    if torch.cuda.get_device_capability() < (8, 9):
        pytest.skip("fp8 needs sm_89 or newer")
    ceilings = measure_ceilings("cuda", ["bfloat16", "float8_e4m3fn"], quick=True)
    assert not ceilings.failed
    assert ceilings.flops_per_s["fp8"] > 1.2 * ceilings.flops_per_s["bf16"]
