"""Which tests' programs are compiled before they are asked for."""

from __future__ import annotations

import os
from typing import Any

import pytest


def compiled_ahead(request: pytest.FixtureRequest) -> list[tuple[pytest.Item, dict[str, Any]]]:
    """The chosen tests that have parameters, with these: another core compiles while the first ones run.

    Where tests run in several processes, each knows of all tests and runs only some of them: nothing is
    compiled ahead there, since the others would compile the same, and no core is idle.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        return []
    given = [(item, getattr(item, "callspec", None)) for item in request.session.items]
    return [(item, spec.params) for item, spec in given if spec is not None]
