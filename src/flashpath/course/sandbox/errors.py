"""How building or running a learner's work can fail. Each says it in words for the learner."""

from __future__ import annotations

from collections.abc import Sequence

from flashpath.errors import FlashpathError
from flashpath.jit.diagnostics import Diagnostic


class SandboxError(FlashpathError):
    """Base of the four below. `printed` is what the learner's code printed until then."""

    printed: str = ""


class BuildFailed(SandboxError):
    """It does not compile, or is not what the exercise calls. `diagnostics` name the learner's lines.

    The message itself is ready to be shown: each place with its line of text and a caret under it.
    """

    def __init__(self, problem: str, fix: str | None = None, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__(problem, fix)
        self.diagnostics = tuple(diagnostics)


def importing(file_name: str) -> str:
    """The step in which a Python file is imported, as errors name it."""
    return f"the import of {file_name}"


class TimedOut(SandboxError):
    """It took longer than it may, and was ended. `what` names the step, such as "building saxpy.cu"."""

    def __init__(self, what: str, seconds: float) -> None:
        super().__init__(
            f"It hung: {what} took more than {seconds:g} s and was stopped.",
            "Look for a loop that never ends, or for work that grows without bound.",
        )
        self.what = what
        self.seconds = seconds

    @property
    def at_import(self) -> bool:
        """Whether it was the learner's file itself, before any of its functions was called."""
        return self.what.startswith(importing(""))


class Crashed(SandboxError):
    """The process ended by itself. `how` says by which signal or exit code, `last` its last lines."""

    def __init__(self, how: str, last: Sequence[str] = (), fix: str | None = None) -> None:
        shown = "".join(f"\n    {line}" for line in last)
        super().__init__(
            f"The process that ran it {how}.{shown}",
            fix or "Look for memory without bound, or for a call that ends the process.",
        )
        self.how = how
        self.last = tuple(last)


class Raised(Crashed):
    """A learner's function raised an exception. The message shows their line; `diagnostics` name it."""

    def __init__(self, problem: str, diagnostics: Sequence[Diagnostic] = ()) -> None:
        super().__init__("raised an exception")
        self.problem = problem
        self.fix = None
        self.diagnostics = tuple(diagnostics)


class Refused(SandboxError):
    """It asks for something that an answer may not use. `what` is that, `why` the reason."""

    def __init__(self, what: str, why: str, fix: str | None = None) -> None:
        super().__init__(f"{what}: {why}", fix)
        self.what = what
        self.why = why
