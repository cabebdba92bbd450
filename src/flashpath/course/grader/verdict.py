"""The grade: what a learner is told of an answer, in plain lines that are ready to print."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from flashpath.errors import FlashpathError


@dataclass(frozen=True)
class GoalResult:
    """One counted goal: what was counted, what is asked."""

    name: str
    counted: float
    asked: float
    at_most: bool  # False: at least
    reached: bool
    said: str  # the line that shows it


@dataclass(frozen=True)
class Grade:
    """The verdict on one answer to an exercise."""

    exercise: str  # its id, such as first-kernel/saxpy
    passed: bool
    reason: str | None  # one word where it failed: a finding's kind, wrong, unwritten, goal, compile …
    headline: str
    details: tuple[str, ...] = ()
    misconception: str | None = None  # the hint of the mistake that this looks like
    cases: int = 0  # how many were right
    goals: tuple[GoalResult, ...] = ()
    seconds: float = 0.0
    mutant: str | None = None  # the mutant whose hint that is

    def to_json(self) -> dict[str, Any]:
        """Plain data, ready for `json.dumps`."""
        return asdict(self)

    def __str__(self) -> str:
        mark = "✓" if self.passed else "✗"
        hint = (self.misconception,) if self.misconception else ()
        return "\n".join((f"{mark} {self.exercise}: {self.headline}", *self.details, *hint))


@dataclass(frozen=True)
class Failure:
    """Why an answer is not right: what the kinds of exercises hand to `grade`."""

    reason: str
    headline: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True)
class Hint:
    """What a known mistake teaches, and which mutant it is."""

    mutant: str
    text: str


@dataclass(frozen=True)
class Judged:
    """What the judges of each kind of exercise say; `grade` makes the Grade of it."""

    failure: Failure | None
    cases: int = 0
    goals: tuple[GoalResult, ...] = ()
    lines: tuple[str, ...] = ()  # details of an answer that is right
    hint: Hint | None = None
    headline: str | None = None  # of an answer that is right, where it is not the usual one


class CountFailed(FlashpathError):
    """An expression of an exercise that cannot be counted."""

    def __init__(self, exercise: str, expression: str, why: str) -> None:
        super().__init__(
            f"{exercise}: the exercise's own count `{expression}` failed: {why}",
            "This is a mistake in its exercise.toml, and none of the answer's.",
        )
        self.exercise, self.expression, self.why = exercise, expression, why
