"""What one check is, and how it is run so that none can bring the command down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from flashpath.errors import FlashpathError
from flashpath.messages import say

Status = Literal["ok", "warn", "missing"]


@dataclass(frozen=True)
class Answer:
    """What a look at this machine found."""

    status: Status
    found: str
    fix: str | None = None
    """The one command that mends it, right for this machine; None where there is nothing to mend."""
    matters: str | None = None
    """Replaces the question's own text where this machine makes it untrue."""


@dataclass(frozen=True)
class Question:
    """One thing to look for: what is lost without it, and whether flashpath works at all without it."""

    name: str
    matters: str
    """The code of the message that says it."""
    look: Callable[[], Answer]
    required: bool = False


@dataclass(frozen=True)
class Check:
    """A question with its answer."""

    name: str
    status: Status
    found: str
    matters: str
    required: bool
    fix: str | None

    @property
    def failed(self) -> bool:
        return self.required and self.status != "ok"


def ok(found: str) -> Answer:
    return Answer("ok", found)


def warn(found: str, fix: str | None = None, matters: str | None = None) -> Answer:
    return Answer("warn", found, fix, matters)


def missing(found: str, fix: str | None = None, matters: str | None = None) -> Answer:
    return Answer("missing", found, fix, matters)


def ask(question: Question) -> Check:
    """Run one check; an exception is an answer too."""
    try:
        answer = question.look()
    except FlashpathError as error:
        answer = warn(error.problem, error.fix)
    except Exception as error:
        answer = warn(say("cli.doctor.check-failed", why=f"{type(error).__name__}: {error}"))
    return Check(
        name=question.name,
        status=answer.status,
        found=answer.found,
        matters=answer.matters or say(question.matters),
        required=question.required,
        fix=answer.fix,
    )
