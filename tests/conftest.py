"""Shared by all tests: GPU tests skip where there is no GPU; the kernel cache is never the user's own."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before flashpath is imported: compiled kernels of a test run go to a folder of their own.
os.environ.setdefault("FLASHPATH_CACHE_DIR", str(Path(__file__).parent.parent / "build" / "test-cache"))

# Before torch is: tests are as many processes as there are cores, and its threads would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Compiled Python is kept: every command that a test starts would compile all of flashpath again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Commands that tests start write into pipes of no width, also where pytest's workers name one.
os.environ.pop("COLUMNS", None)

# What is said is compared in English, whatever language the developer's shell has.
os.environ.pop("FLASHPATH_LANG", None)

from flashpath.jit import device  # noqa: E402


@pytest.fixture
def hears_control_c() -> Iterator[None]:
    """A shell has background jobs, and what they start, ignore the signal; tests of it want it heard."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if device.count():
        return
    skip = pytest.mark.skip(reason="needs a CUDA GPU, and this machine has none")
    for item in items:
        if item.get_closest_marker("gpu"):
            item.add_marker(skip)
