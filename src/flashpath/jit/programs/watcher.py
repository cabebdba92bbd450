"""Who is told what happens before a program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from flashpath.jit.programs.store import Program
    from flashpath.messages import Message


class Watcher(Protocol):
    """Told of each step as it begins, of each command before it starts, and of the program before it runs."""

    def progress(self, doing: Message) -> None: ...

    def command(self, command: str) -> None: ...

    def ready(self, program: Program) -> None: ...


class Unwatched:
    """Told of everything, and says nothing."""

    def progress(self, doing: Message) -> None: ...

    def command(self, command: str) -> None: ...

    def ready(self, program: Program) -> None: ...
