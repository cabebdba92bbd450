"""Who is told of launches, and of memory that outlives a call: at most one, and on no usual way anyone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol


class Observer(Protocol):
    """Follows what one call does."""

    def launched(self, launcher: Any, args: Any, parameters: bytes, where: int) -> None:
        """A kernel of `fp.jit` was launched with these packed parameters, on that GPU or on none."""
        ...

    def lent(self, tensor: Any, again: Callable[[], Any]) -> None:
        """The call uses memory that is not its own; `again` asks for such memory anew."""
        ...


observer: Observer | None = None
