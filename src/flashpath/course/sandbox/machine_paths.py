"""Takes the paths of this machine out of what compilers say: a learner's file has its name alone."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from flashpath.course.sandbox import folders
from flashpath.course.sandbox.inside.failures import bounded
from flashpath.jit.diagnostics import Diagnostic
from flashpath.messages import Message

_BUILT_IN = "__nv_nvrtc_builtin_header.h"
# NVRTC's own header has no place on any disk, and nobody who answers an exercise chooses NVRTC's options.
_OF_NVRTC = (
    (rf"(?<!\S)\S*{_BUILT_IN}\(\d+\): note(?: #[\w-]+)?: ", "note: "),
    (rf" \((?:[^\s()]*/)?{_BUILT_IN}:\d+\)", ""),
    (rf"(?<!\S)\S*/{_BUILT_IN}", _BUILT_IN),
    (r"\.? Consider using -default-device flag[^\n]*", "."),
)


class MachinePaths:
    """The folders whose names are left out: those of the compilers, of this package and of the child."""

    def __init__(self, folder: Path) -> None:
        from flashpath.jit import toolkit

        own = Path(__file__).parent
        places = [
            *toolkit.headers().folders,
            own / "headers",
            own,
            folder,
            folder.resolve(),
            Path(sys.prefix),
        ]
        names = sorted({str(name) for name in places}, key=len, reverse=True)
        known = [re.escape(name.rstrip("/\\")) + r"[/\\]" for name in names]
        # What was compiled before has the path of the folder where that was.
        before = rf"{re.escape(str(folder.parent))}[/\\]{folders.PREFIX}[\w-]{{1,100}}[/\\]"
        self._prefixes = re.compile("|".join([*known, before]))

    def hidden_in(self, text: str) -> str:
        """Returns the text without them, and no more of it than anyone reads."""
        text = bounded(text)
        for pattern, other in _OF_NVRTC:
            text = re.sub(pattern, other, text)
        return self._prefixes.sub("", text)

    def hidden_in_message(self, message: Message) -> Message:
        """Returns the message without them in any of its parameters."""
        return Message(message.code, {name: self._hidden(value) for name, value in message.params.items()})

    def hidden_in_diagnostic(self, found: Diagnostic) -> Diagnostic:
        """Returns the compiler's message without them."""
        return replace(
            found,
            file=self.hidden_in(found.file),
            message=self.hidden_in(found.message),
            details=self.hidden_in(found.details),
        )

    def _hidden(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.hidden_in(value)
        if isinstance(value, Message):
            return self.hidden_in_message(value)
        return (
            [self._hidden(part) for part in cast("Sequence[Any]", value)]
            if isinstance(value, list)
            else value
        )
