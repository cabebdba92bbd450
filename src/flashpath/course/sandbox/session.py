"""What every session has: one child at most, which ends when the session does, whatever happens."""

from __future__ import annotations

from types import TracebackType

from flashpath.course.sandbox.child import Child
from flashpath.course.sandbox.job import Limits


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
