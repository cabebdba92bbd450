"""Calls with changing shapes: the host's memory and the GPU's stay flat."""

# pyright: basic

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parents[3] / "benchmarks" / "soak.py"
CALLS_ON_CPU = 3000  # the script makes 100,000


def script() -> Any:
    spec = importlib.util.spec_from_file_location("soak", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["soak"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.gpu
def test_a_hundred_thousand_calls_with_changing_shapes() -> None:
    soak = script()
    growth = soak.soak(soak.CALLS, "cuda")
    print(growth)
    assert growth.gpu <= 0
    assert growth.host <= soak.MOST_GROWTH


@pytest.mark.alone
def test_calls_with_changing_shapes_on_the_virtual_gpu() -> None:
    soak = script()
    growth = soak.soak(CALLS_ON_CPU, "cpu")
    assert growth.host <= soak.MOST_GROWTH, growth
