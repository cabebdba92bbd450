"""The error everyone may raise: it says what was got, what was expected and what to do."""

from __future__ import annotations

import functools
from typing import Any, Self

from flashpath.messages import Message, Reader


class FlashpathError(Exception):
    """Base of all errors that flashpath raises on purpose: a code with parameters (see `flashpath.messages`).

    `problem` says what happened, `fix` what the reader can do about it, both in the language that is spoken
    where they are read. The command line prints both without a traceback.
    """

    reader: Reader = "caller"
    """For whom it is worded."""

    def __new__(cls, *args: Any, **params: Any) -> Self:
        """An error of an operator is also what torch's own operators would raise."""
        del params
        kind: Any = _also(args[0]) if cls is FlashpathError and args else cls
        return super().__new__(kind, *args)

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
        kind = type(self)
        return _restored, (kind.__dict__.get("declared", kind), self.said, self.__dict__)


# Codes of wrong types and wrong values, as Python tells them apart; all else of a call is a RuntimeError, as
# torch has it of types, shapes and devices that do not fit. Other rooms' errors are of no kind of Python's.
_TYPES = frozenset(
    f"{room}.{name}"
    for room, names in {
        "ops": ("no-tensor", "nested", "no-number", "no-flag", "not-whole", "bins"),
        "kernels": ("no-tensor", "no-tensor-like", "attention-no-tensor", "attention-option"),
        "compat": ("not-whole",),
    }.items()
    for name in names
)
_VALUES = frozenset(
    f"{room}.{name}"
    for room, names in {
        "ops": (
            "no-choice",
            "negative",
            "window",
            "backend",
            "decode-backend",
            "large-number",
            "decode-lengths",
        ),
        "kernels": (
            "norm-eps",
            "attention-window",
            "attention-softcap",
            "attention-scale",
            "attention-dropout",
        ),
        "compat": ("window", "pages"),
    }.items()
    for name in names
)
_OF_CALLS = ("ops.", "kernels.", "compat.")


@functools.cache
def _also(code: str) -> type[FlashpathError]:
    """The kind of an error that is a TypeError, ValueError or RuntimeError as well, under the same name."""
    if not code.startswith(_OF_CALLS):
        return FlashpathError
    return _kind(TypeError if code in _TYPES else ValueError if code in _VALUES else RuntimeError)


@functools.cache
def _kind(base: type[Exception]) -> type[FlashpathError]:
    own = FlashpathError
    attributes = {"__module__": own.__module__, "__qualname__": own.__qualname__, "declared": own}
    return type(own.__name__, (own, base), attributes)


def _restored(kind: type[FlashpathError], said: Message, attributes: dict[str, Any]) -> FlashpathError:
    """Unpickles an error without its constructor, whose arguments each kind chooses for itself."""
    error = kind.__new__(kind, said.code)
    error.__dict__.update(attributes)
    return error


class MissingDevice(FlashpathError):
    """The call needs a device that this machine does not have."""
