"""Shared by the tests of findings: kernels compiled once, and no GPU asked."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import flashpath as fp

sys.path.insert(0, str(Path(__file__).parent))  # this folder's modules, as its program imports them

# Before Triton compiles anything: its cache of a test run is not the user's own.
os.environ.setdefault("TRITON_CACHE_DIR", str(Path(__file__).parents[3] / "build" / "triton-test-cache"))

Compiled = Callable[[Path, str], fp.Kernel]


@pytest.fixture(autouse=True)
def on_the_virtual_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels without arrays would go to a GPU where there is one."""
    monkeypatch.setenv("FLASHPATH_DEVICE", "virtual")


@pytest.fixture(scope="session")
def compiled() -> Compiled:
    """The kernel of that name in a file; each file is compiled once."""
    modules: dict[Path, fp.Module] = {}

    def kernel(path: Path, name: str) -> fp.Kernel:
        if path not in modules:
            modules[path] = fp.compile(path, "sm_80")
        return modules[path][name]

    return kernel
