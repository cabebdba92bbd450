"""Shared by the tests of norms: memory full of NaN, and launches under the sanitizer in two schedules."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness.guarded_output import poison_new_memory
from tests.harness.launches import sanitize_launches


@pytest.fixture(autouse=True)
def nothing_is_zero_by_luck(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that rungs ask for themselves is full of NaN, or of large numbers."""
    poison_new_memory(monkeypatch)


@pytest.fixture
def findings(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every launch on the virtual GPU runs under the sanitizer; what it finds is listed here."""
    return sanitize_launches(monkeypatch, seeds=2)
