"""How building or running a learner's work can fail. Each error is a message that is worded for learners."""

from __future__ import annotations

import json
from collections.abc import Sequence

from flashpath.errors import FlashpathError
from flashpath.jit.diagnostics import Diagnostic
from flashpath.messages import Message, told


class SandboxError(FlashpathError):
    """Base of the errors below, worded for learners. `printed` is what their code printed until then."""

    printed: str = ""
    reader = "learner"


class BuildFailed(SandboxError):
    """It does not compile, or is not what the exercise calls. `diagnostics` name the learner's lines.

    The message itself is ready to be shown: each place with its line of text and a caret under it.
    """

    def __init__(self, said: Message, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(said.code, **said.params)
        self.diagnostics = tuple(diagnostics)


class Raised(SandboxError):
    """A learner's function raised an exception, or returned what is no value; `reported` says which."""

    def __init__(self, said: Message, diagnostics: Sequence[Diagnostic], reported: Message) -> None:
        super().__init__(said.code, **said.params)
        self.diagnostics = tuple(diagnostics)
        self.reported = reported


class TimedOut(SandboxError):
    """It took longer than it may, and was ended. `step` is what was done: building, importing, running."""

    def __init__(self, step: Message, seconds: float) -> None:
        super().__init__("course.sandbox.timed-out", step=step, seconds=seconds)
        self.step = step
        self.seconds = seconds

    @property
    def at_import(self) -> bool:
        """Whether it was the learner's file itself, before any of its functions was called."""
        return self.step.code == "course.sandbox.importing"

    @property
    def at_build(self) -> bool:
        """Whether a compiler was at work."""
        return self.step.code in ("course.sandbox.building", "course.sandbox.loading")


class Crashed(SandboxError):
    """The process ended by itself. `how` says by which signal or exit code, `last` its last lines."""

    def __init__(self, how: Message, last: Sequence[str] = (), advice: Message | None = None) -> None:
        super().__init__(
            "course.sandbox.crashed",
            how=how,
            last="".join(f"\n    {line}" for line in last),
            advice=advice or told("course.sandbox.look-for-memory"),
        )
        self.how = how
        self.last = tuple(last)


class Refused(SandboxError):
    """It asks for something that an answer may not use."""


_MOST_REPORTED = 16 << 10


def reported(data: object) -> Message | None:
    """Reads what a child that runs a learner's code says; None where it is no short message of this room."""
    try:
        if len(json.dumps(data)) > _MOST_REPORTED:
            return None
        message = Message.from_data(data)
    except (ValueError, TypeError, RecursionError):
        return None
    return message if message.code.startswith("course.sandbox.") else None
