"""Every test compiles into a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from flashpath.jit import KernelCache


@pytest.fixture
def cache(tmp_path: Path) -> KernelCache:
    return KernelCache(tmp_path / "cache", limit_bytes=2**30)
