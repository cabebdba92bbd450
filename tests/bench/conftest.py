"""A clock that moves only when told: times in these tests are exact on any machine."""

from __future__ import annotations

import pytest


class FakeClock:
    def __init__(self) -> None:
        self.now_ns = 0

    def advance(self, seconds: float) -> None:
        self.now_ns += round(seconds * 1e9)

    def nanoseconds(self) -> int:
        return self.now_ns

    def seconds(self) -> float:
        return self.now_ns / 1e9


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()
