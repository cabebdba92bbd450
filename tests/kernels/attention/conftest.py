"""Shared by the tests of attention: memory full of NaN, and launches under the sanitizer."""

from __future__ import annotations

from collections.abc import Iterator
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
    return sanitize_launches(monkeypatch)


@pytest.fixture
def sanitized_on_cpu(request: pytest.FixtureRequest) -> Iterator[None]:
    """For tests of both devices: on the virtual GPU the sanitizer is on, and must find nothing."""
    is_virtual = request.getfixturevalue("device") == "cpu"
    findings: list[Any] = request.getfixturevalue("findings") if is_virtual else []
    yield
    assert not findings
