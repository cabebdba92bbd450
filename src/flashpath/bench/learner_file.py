"""A learner's own function out of a file of theirs, named FILE.py:function."""

from __future__ import annotations

import difflib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

from flashpath import settings
from flashpath.bench.failure import describe
from flashpath.errors import FlashpathError
from flashpath.messages import Message


def load_function(where: str) -> Callable[..., Any]:
    """The function named by `FILE.py:function`; what the file prints while it is imported goes to stderr."""
    file_name, colon, function_name = where.rpartition(":")
    if not colon or not file_name or not function_name or function_name.endswith(".py"):
        raise FlashpathError("bench.not-a-function-name", given=where)
    path = settings.expanded(file_name).resolve()
    if not path.is_file():
        raise FlashpathError("bench.no-file", file=file_name, near=near_files(path))
    module = import_file(path)
    function = getattr(module, function_name, None)
    if callable(function):
        return function
    near = near_functions(module, function_name)
    if function is None:
        raise FlashpathError("bench.no-function", file=file_name, name=function_name, near=near)
    raise FlashpathError("bench.not-a-function", file=file_name, name=function_name, near=near)


def near_files(path: Path) -> Message:
    folder = path.parent
    if not folder.is_dir():
        return Message("bench.no-folder-either", {"folder": folder})
    names = sorted(file.name for file in folder.glob("*.py"))
    near = difflib.get_close_matches(path.name, names, cutoff=0.5)
    if near:
        return Message("messages.did-you-mean", {"names": near})
    return Message("bench.folder-holds", {"names": names or Message("bench.none")})


def near_functions(module: ModuleType, name: str) -> Message:
    own = {key: value for key, value in vars(module).items() if not key.startswith("_") and callable(value)}
    functions = sorted(key for key, value in own.items() if value.__module__ == module.__name__)
    near = difflib.get_close_matches(name, functions, cutoff=0.5)
    if near:
        return Message("messages.did-you-mean", {"names": near})
    return Message("bench.file-defines", {"names": functions or Message("bench.none")})


def import_file(path: Path) -> ModuleType:
    """Run the file as a module; its own folder is importable, as when Python runs it as a script."""
    # The path belongs to the name, so that two files of one name do not replace each other.
    name = f"flashpath_learner_{path.stem}_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FlashpathError("bench.not-python", file=path.name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # inspect and Triton look the source up through it
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    try:
        with redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise FlashpathError(
            "bench.import-failed", file=path.name, where=last_place(error, path), why=describe(error)
        ) from None
    return module


def last_place(error: BaseException, path: Path) -> Message | str:
    """The line of their own file that led to the error: the frames below belong to others."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return Message("bench.at-line", {"line": error.lineno, "code": (error.text or "").strip()})
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    if not own:
        return ":"
    return Message("bench.at-line-in", {"line": own[-1].lineno, "name": own[-1].name, "code": own[-1].line})
