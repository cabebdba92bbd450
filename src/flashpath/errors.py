"""The error everyone may raise: it says what was got, what was expected and what to do."""

from __future__ import annotations


class FlashpathError(Exception):
    """Base of all errors that flashpath raises on purpose.

    `problem` says what happened, `fix` what the reader can do about it. The command line prints both
    without a traceback.
    """

    def __init__(self, problem: str, fix: str | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.problem}\n  → {self.fix}" if self.fix else self.problem

    def __repr__(self) -> str:  # what torch.compile shows of it
        return f"{type(self).__name__}({str(self)!r})"


class MissingDevice(FlashpathError):
    """The call needs a device that this machine does not have."""
