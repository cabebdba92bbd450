"""Shared by the tests of the virtual GPU."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def on_the_virtual_gpu() -> Iterator[None]:
    """Kernels without arrays would go to a GPU where there is one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FLASHPATH_DEVICE", "virtual")
        yield
