"""Kernels in PTX itself are run as those of the tests of memory are."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def run_ptx() -> Any:
    """Runs a body of PTX for every thread, on arrays that it may write."""
    place = Path(__file__).parents[1] / "memory" / "conftest.py"
    spec = importlib.util.spec_from_file_location("memory_kernels", place)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.run_ptx
