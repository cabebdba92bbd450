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


@pytest.fixture(autouse=True)
def no_driver_is_left_behind() -> Iterator[None]:
    drivers: Any = importlib.import_module("triton.runtime.driver").driver
    before = drivers._active
    yield
    after, drivers._active = drivers._active, before
    # Triton finds a real GPU's driver when it first needs one.
    assert after is before or (before is None and type(after).__module__.startswith("triton."))


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
