"""What every session has: one child at most, which ends when the session does, whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.errors import BuildFailed, Crashed, SandboxError
from flashpath.course.sandbox.job import Limits
from flashpath.course.sandbox.machine_paths import MachinePaths
from flashpath.jit.diagnostics import Diagnostic
from flashpath.messages import Message, told


class Session:
    """A context manager around a child; who inherits starts it in `__enter__`."""

    def __init__(self, limits: Limits | None) -> None:
        self.limits = limits or Limits()
        self._child: Child | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.close()
            self._child = None


class CompilerSession(Session):
    """A session whose child runs compilers, and no code of a learner's."""

    def _check(self, header: Mapping[str, Any]) -> None:
        """Raise what the child says, where it could not do what it was asked for."""
        if header.get("ok"):
            return
        error: SandboxError
        if "defect" in header:
            how = told("course.sandbox.met-a-defect", defect=header["defect"])
            error = Crashed(how, advice=told("course.sandbox.ours-to-mend"))
        else:
            error = self._failed(header)
        error.printed = self._child.take_printed() if self._child else ""
        raise error

    def _failed(self, header: Mapping[str, Any]) -> BuildFailed:
        """Returns the error of a child that could not build or launch.

        Which headers there are and how a kernel is launched is the exercise's, and not a learner's to change.
        """
        paths = MachinePaths(self._child.folder if self._child else Path.cwd())
        said = paths.hidden_in_message(Message.from_data(header["failed"]))
        diagnostics = [paths.hidden_in_diagnostic(Diagnostic(**row)) for row in header["diagnostics"]]
        return BuildFailed(said, diagnostics)
