"""Shared by the tests of kernels: launches under the sanitizer."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness.launches import sanitize_launches


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every launch on the virtual GPU runs under the sanitizer in three schedules; findings come here."""
    return sanitize_launches(monkeypatch, seeds=3)
