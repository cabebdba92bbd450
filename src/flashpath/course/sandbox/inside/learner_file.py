"""A learner's Python file inside a child: imported, and its errors told by its own lines."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

_MODULE = "answer"


class Failed(Exception):
    """What the learner is told: a code of the sandbox's messages, parameters, and their line (0: none)."""

    def __init__(self, code: str, line: int = 0, column: int | None = None, /, **params: Any) -> None:
        super().__init__(code)
        self.code, self.line, self.column, self.params = code, line, column, params

    def as_data(self) -> dict[str, Any]:
        """Returns what is sent of it."""
        failed = {"code": self.code, "params": self.params}
        return {"failed": failed, "line": self.line, "column": self.column}


def load(source: str, folder: str, file_name: str) -> ModuleType:
    """Import the text as a module; Triton reads the file again, so there is one."""
    path = Path(folder) / file_name
    path.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(_MODULE, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_MODULE] = module
    try:
        spec.loader.exec_module(module)
    except MemoryError:
        raise Failed("course.sandbox.no-memory-import") from None
    except BaseException as error:  # KeyboardInterrupt and SystemExit too: a learner's code may raise any
        raise failure(error, path) from None
    return module


def failure(error: BaseException, path: Path) -> Failed:
    """An exception of the learner's code, with the last of their own lines that it went through."""
    line = 0
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == str(path):
            line = frame.lineno or 0
    # What Python would print of it last; its class may be the learner's own, and refuse to tell.
    try:
        name, text = f"{type(error).__name__}"[:200], f"{error}"[:2000]
    except BaseException:
        return Failed("course.sandbox.exception-without-text", line)
    return Failed("course.sandbox.python-says", line, text=f"{name}: {text}" if text else name)
