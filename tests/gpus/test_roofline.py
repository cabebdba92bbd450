"""The roofline: which bound holds, the least time, and what counts as the peak of a type."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flashpath.errors import FlashpathError
from flashpath.gpus import Gpu, gpu, gpus, roofline

amounts = st.floats(1, 1e18)
profiles = st.sampled_from(gpus())


def test_vector_add_is_bound_by_memory() -> None:
    n = 2**28
    found = roofline(gpu("A100"), bytes=12 * n, flops=n, dtype="float32")
    assert found.bound == "memory"
    assert found.intensity == pytest.approx(1 / 12)
    assert found.ridge == pytest.approx(19.5e12 / 2039e9)
    assert found.least_seconds == found.memory_seconds == pytest.approx(12 * n / 2039e9)
    assert found.fraction(2 * found.least_seconds) == pytest.approx(0.5)


def test_large_matmul_is_bound_by_arithmetic() -> None:
    n = 8192
    found = roofline(gpu("H200"), bytes=3 * n * n * 2, flops=2 * n**3, dtype="bf16")
    assert (found.gpu, found.bound, found.peak) == ("H200", "compute", "bf16_tensor")
    assert found.least_seconds == found.compute_seconds == pytest.approx(2 * n**3 / 989.4e12)


@pytest.mark.parametrize(
    ("name", "dtype", "peak", "tflops"),
    [
        ("A100", "torch.float16", "fp16_tensor", 312),
        ("A100", "half", "fp16_tensor", 312),
        ("A100", "bfloat16", "bf16_tensor", 312),
        ("A100", "TF32", "tf32_tensor", 156),
        ("A100", "float64", "fp64", 9.7),
        ("A100", "fp64_tensor", "fp64_tensor", 19.5),
        ("A100", "int8", "int8_tensor", 624),
        ("RTX 4090", "fp16", "fp16_tensor", 165.2),
        ("RTX 3090", "fp16", "fp16_tensor", 71),
        ("H100", "torch.float8_e4m3fn", "fp8_tensor", 1978.9),
        # Without units of its own, a type is bounded by those that hold its values.
        ("A100", "fp8", "fp16_tensor", 312),
        ("T4", "bf16", "fp32", 8.1),
        ("T4", "tf32", "fp32", 8.1),
        ("T4", "fp8", "fp16_tensor", 65),
        ("L4", "fp64_tensor", "fp64", 0.473),
    ],
)
def test_peak_of_a_type(name: str, dtype: str, peak: str, tflops: float) -> None:
    found = roofline(gpu(name), 1, 1, dtype)
    assert (found.peak, found.flops_per_second) == (peak, pytest.approx(tflops * 1e12))


@pytest.mark.parametrize("dtype", ["int32", "", "quux", "torch.bool"])
def test_unknown_type(dtype: str) -> None:
    with pytest.raises(FlashpathError) as caught:
        roofline(gpu("A100"), 1, 1, dtype)
    assert repr(dtype) in caught.value.problem
    assert "fp64, fp32, tf32, fp16, bf16, fp8 or int8" in str(caught.value)


def test_only_bytes_or_only_flops() -> None:
    copy = roofline(gpu("H100"), 3350e9, 0)
    assert (copy.bound, copy.intensity, copy.least_seconds) == ("memory", 0.0, pytest.approx(1))
    spin = roofline(gpu("H100"), 0, 66.9e12)
    assert (spin.bound, spin.intensity, spin.least_seconds) == ("compute", math.inf, pytest.approx(1))
    nothing = roofline(gpu("H100"), 0, 0)
    assert (nothing.bound, nothing.intensity, nothing.least_seconds) == ("memory", 0.0, 0.0)


@pytest.mark.parametrize(("bytes_", "flops"), [(-1, 0), (0, -1), (math.nan, 0), (0, math.inf)])
def test_nonsense_amounts_are_refused(bytes_: float, flops: float) -> None:
    with pytest.raises(FlashpathError, match="0 or more, and finite"):
        roofline(gpu("A100"), bytes_, flops)


@pytest.mark.parametrize("seconds", [0.0, -1.0, math.nan])
def test_nonsense_times_are_refused(seconds: float) -> None:
    with pytest.raises(FlashpathError, match="above 0"):
        roofline(gpu("A100"), 1, 1).fraction(seconds)


@given(profiles, amounts, amounts)
def test_bound_follows_from_intensity_and_ridge(profile: Gpu, bytes_: float, flops: float) -> None:
    found = roofline(profile, bytes_, flops, "fp16")
    if not math.isclose(found.intensity, found.ridge, rel_tol=1e-9):
        assert found.bound == ("compute" if found.intensity > found.ridge else "memory")


@given(profiles, amounts, amounts, st.floats(1, 1e3))
def test_more_work_never_takes_less_time(profile: Gpu, bytes_: float, flops: float, factor: float) -> None:
    least = roofline(profile, bytes_, flops).least_seconds
    assert roofline(profile, bytes_ * factor, flops).least_seconds >= least
    assert roofline(profile, bytes_, flops * factor).least_seconds >= least
