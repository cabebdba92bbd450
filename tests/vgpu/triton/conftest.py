"""Shared by the tests of Triton on the virtual GPU: a GPU that is on, and how close results must be."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import flashpath as fp

# Before Triton compiles anything: its cache of a test run is not the user's own.
os.environ.setdefault("TRITON_CACHE_DIR", str(Path(__file__).parents[3] / "build" / "triton-test-cache"))

pytest.importorskip("triton")

from flashpath.vgpu.device import UnsupportedInstruction

# Tests that need instructions which the engine does not know yet, by the beginning of their names.
_PRODUCTS = ("half", "a_transposed", "warps", "tf32", "int8", "fp8", "other", "an_autotuned", "products")
WAITING = {
    **{f"test_matmul.py::test_{name}": "ldmatrix, mma" for name in _PRODUCTS},
    "test_attention.py::": "ldmatrix, mma",
    "test_elementwise.py::test_every_float_of_eight_bits_widens_exactly[torch.float8_e5m2-torch.f": "cvt",
    "test_elementwise.py::test_every_float_of_eight_bits_widens_exactly[torch.float8_e4m3fn": "cvt",
    "test_elementwise.py::test_floats_narrow_to_eight_bits": "cvt.satfinite",
    "test_elementwise.py::test_sums_of_eight_bit_floats[torch.float8_e5m2-sm_89]": "cvt",
    "test_elementwise.py::test_sums_of_eight_bit_floats[torch.float8_e4m3fn-sm_89]": "cvt",
    "test_elementwise.py::test_functions_of_the_language": "mad.cc",
    "test_reductions.py::test_scans_of_integers": "ldmatrix",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent != Path(__file__).parent:
            continue
        name = f"{item.path.name}::{item.name}"
        for beginning, needs in WAITING.items():
            if name.startswith(beginning):
                item.add_marker(pytest.mark.xfail(strict=True, raises=UnsupportedInstruction, reason=needs))


@pytest.fixture(autouse=True)
def no_driver_is_left_behind() -> Iterator[None]:
    drivers: Any = importlib.import_module("triton.runtime.driver").driver
    before = drivers._active
    yield
    after, drivers._active = drivers._active, before
    assert after is before


@pytest.fixture
def gpu(no_driver_is_left_behind: None) -> Iterator[Any]:
    """The virtual GPU on, as an A100."""
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    with fp.vgpu.triton() as virtual:
        yield virtual


@pytest.fixture
def check_close() -> Callable[..., None]:
    """The error of a kernel is at most twice that of the same maths in the low precision, plus a little."""

    def check(got: Any, in_low_precision: Any, exact: Any, absolute: float) -> None:
        assert exact.dtype == torch.float64
        assert not got.isnan().any()
        error = (got.double() - exact).abs().max().item()
        usual = (in_low_precision.double() - exact).abs().max().item()
        assert error <= 2 * usual + absolute, f"error {error}, the same maths in low precision {usual}"

    return check
