"""Whether this machine can compile whole programs; tests that need it skip with what is missing."""

from __future__ import annotations

import pytest

from flashpath.course.sandbox.programs import need_compilers
from flashpath.errors import FlashpathError


def missing_compilers() -> str | None:
    """Returns what is missing; None where all is there."""
    try:
        need_compilers()
    except FlashpathError as error:
        return str(error)
    return None


needs_nvcc = pytest.mark.skipif(missing_compilers() is not None, reason=str(missing_compilers()))
