"""The grade: what a learner is told of an answer. It is kept as messages, and said where it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.messages import Message, Text, spoken


@dataclass(frozen=True)
class Advice:
    """What to do about what a message says: a line of its own."""

    about: Message


# A line of a verdict; plain texts are pictures, listings, and what the answer printed.
Line = Message | Advice | str


def said(lines: Iterable[Line]) -> tuple[str, ...]:
    """Returns the lines in the language that is spoken, worded for learners."""
    return tuple(plain(row) for line in lines for row in _said(line))


_ORDERS = {code: "�" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n"}


def plain(text: str) -> str:
    """Returns the text without what a terminal would take for an order: an answer may say anything."""
    return text.translate(_ORDERS)


def _said(line: Line) -> list[str]:
    match line:
        case str():
            return [line]
        case Advice(about):
            fix = about.fix(reader="learner")
            return [f"→ {fix}"] if fix else []
        case Message():
            return line.text(reader="learner").splitlines()


@dataclass(frozen=True)
class GoalResult:
    """One counted goal: what was counted, what is asked."""

    title: Text | Message
    counted: float
    asked: float
    at_most: bool  # False: at least
    reached: bool
    line: Message  # what shows it

    @property
    def name(self) -> str:
        """What is counted."""
        return self.title.in_(spoken()) if isinstance(self.title, Text) else self.title.text()

    @property
    def said(self) -> str:
        """The line that shows it."""
        return self.line.text()

    def to_json(self) -> dict[str, Any]:
        """Returns plain data, with the words in the language that is spoken."""
        return {
            "name": self.name,
            "counted": self.counted,
            "asked": self.asked,
            "at_most": self.at_most,
            "reached": self.reached,
            "said": self.said,
        }


@dataclass(frozen=True)
class Hint:
    """What a known mistake teaches, and which mutant it is."""

    mutant: str
    text: Text


@dataclass(frozen=True)
class Grade:
    """The verdict on one answer to an exercise."""

    exercise: str  # its id, such as first-kernel/vector-add
    passed: bool
    reason: str | None  # one word where it failed: a finding's kind, wrong, unwritten, goal, compile …
    summary: Message
    lines: tuple[Line, ...] = ()
    hint: Hint | None = None  # of the mistake that this looks like
    cases: int = 0  # how many were right
    goals: tuple[GoalResult, ...] = ()
    seconds: float = 0.0

    @property
    def headline(self) -> str:
        """The verdict in one sentence, in the language that is spoken."""
        return plain(self.summary.text(reader="learner"))

    @property
    def details(self) -> tuple[str, ...]:
        """What else there is to say, line by line, in the language that is spoken."""
        return said(self.lines)

    @property
    def misconception(self) -> str | None:
        """What the mistake that this looks like teaches, in the language that is spoken."""
        return None if self.hint is None else self.hint.text.in_(spoken())

    @property
    def mutant(self) -> str | None:
        """The mutant whose hint that is."""
        return None if self.hint is None else self.hint.mutant

    def to_json(self) -> dict[str, Any]:
        """Returns plain data, ready for `json.dumps`, with the words in the language that is spoken."""
        return {
            "exercise": self.exercise,
            "passed": self.passed,
            "reason": self.reason,
            "code": self.summary.code,
            "headline": self.headline,
            "details": list(self.details),
            "misconception": self.misconception,
            "cases": self.cases,
            "goals": [goal.to_json() for goal in self.goals],
            "seconds": self.seconds,
            "mutant": self.mutant,
        }

    def __str__(self) -> str:
        mark = "✓" if self.passed else "✗"
        hint = (self.misconception,) if self.misconception else ()
        return "\n".join((f"{mark} {self.exercise}: {self.headline}", *self.details, *hint))


@dataclass(frozen=True)
class Failure:
    """Why an answer is not right: what the kinds of exercises hand to `grade`."""

    reason: str
    headline: Message
    details: tuple[Line, ...] = ()


@dataclass(frozen=True)
class Judged:
    """What the judges of each kind of exercise say; `grade` makes the Grade of it."""

    failure: Failure | None
    cases: int = 0
    goals: tuple[GoalResult, ...] = ()
    lines: tuple[Line, ...] = ()  # details of an answer that is right
    hint: Hint | None = None
    headline: Message | None = None  # of an answer that is right, where it is not the usual one


class CountFailed(FlashpathError):
    """An expression that cannot be counted: the exercise's own mistake, and none of the answer's."""

    def __init__(self, exercise: str, expression: str, why: str | Message) -> None:
        super().__init__("course.grader.count-failed", id=exercise, count=expression, why=why)
