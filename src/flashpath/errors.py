"""The error everyone may raise: it says what was got, what was expected and what to do."""

from __future__ import annotations

from typing import Any

from flashpath.messages import Message, Reader


class FlashpathError(Exception):
    """Base of all errors that flashpath raises on purpose: a code with parameters (see `flashpath.messages`).

    `problem` says what happened, `fix` what the reader can do about it, both in the language that is spoken
    where they are read. The command line prints both without a traceback.
    """

    reader: Reader = "caller"
    """For whom it is worded."""

    def __init__(self, code: str, /, **params: Any) -> None:
        super().__init__(code)
        self.said = Message(code, params)
        self.lang: str | None = None
        """The language of the command or folder that it ended; None: the one that is spoken."""

    @property
    def code(self) -> str:
        """Which error it is, such as `jit.no-such-kernel`."""
        return self.said.code

    @property
    def problem(self) -> str:
        """What happened."""
        return self.said.text(self.lang, self.reader)

    @property
    def fix(self) -> str | None:
        """What the reader can do about it."""
        return self.said.fix(self.lang, self.reader)

    def __str__(self) -> str:
        return f"{self.problem}\n  → {fix}" if (fix := self.fix) else self.problem

    def __repr__(self) -> str:  # what torch.compile shows of it
        return f"{type(self).__name__}({str(self)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.said, self.__dict__)


def _restored(kind: type[FlashpathError], said: Message, attributes: dict[str, Any]) -> FlashpathError:
    """Unpickles an error without its constructor, whose arguments each kind chooses for itself."""
    error = kind.__new__(kind, said.code)
    error.__dict__.update(attributes)
    return error


class MissingDevice(FlashpathError):
    """The call needs a device that this machine does not have."""
