"""What a learner's Python may contain: looked at as a tree before any of it runs.

This finds honest mistakes and plain attempts, and says what is wrong with them. It is not what keeps a
process inside its bounds: that is the system's part (inside/restrict.py).
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from flashpath.course.sandbox.errors import BuildFailed, Refused
from flashpath.jit.diagnostics import Diagnostic, show
from flashpath.jit.source import Source

MOST_SOURCE_BYTES = 1 << 20

_NAMES = frozenset({
    "exec", "eval", "compile", "open", "input", "breakpoint", "globals", "locals", "vars", "getattr",
    "setattr", "delattr", "memoryview", "exit", "quit", "help",
})  # fmt: skip
# Ways from a value or a module to what an answer has no business with.
_ATTRIBUTES = frozenset({
    "os", "sys", "subprocess", "importlib", "builtins", "ctypes", "ctypeslib", "socket", "shutil", "pathlib",
    "multiprocessing", "threading", "gc", "inspect", "atexit", "signal", "gi_frame", "gi_code", "cr_frame",
    "ag_frame", "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "tb_frame", "tb_next", "memmap",
    "fromfile", "tofile", "save", "savez", "savez_compressed", "savetxt", "loadtxt", "genfromtxt",
    "load_library", "from_file",
})  # fmt: skip


def check_python(source: str, file_name: str, imports: Collection[str]) -> None:
    """Raise where the text is no Python, or uses what no answer may; `imports` are what it may import."""
    if not source.strip():
        raise BuildFailed(f"{file_name} is empty.", "`flashpath reset` brings the skeleton back.")
    if len(source.encode(errors="replace")) > MOST_SOURCE_BYTES or "\0" in source:
        raise Refused(file_name, "it is longer than 1 MiB, or holds a NUL character.", "Write less.")
    try:
        tree = ast.parse(source, file_name)
    except SyntaxError as error:
        raise failed_at(
            source, file_name, f"SyntaxError: {error.msg}", error.lineno or 0, error.offset
        ) from None
    except (RecursionError, MemoryError, ValueError):
        raise Refused(
            file_name, "it is nested too deeply to be read.", "Write shorter expressions."
        ) from None
    _Checker(file_name, imports).visit(tree)


def failed_at(source: str, file_name: str, problem: str, line: int, column: int | None = None) -> BuildFailed:
    """The error for a place in the learner's file, with its line shown; for no place where `line` is 0."""
    if line <= 0:
        return BuildFailed(f"{file_name}: {problem}")
    found = Diagnostic(file_name, line, column, "error", problem)
    return BuildFailed(show(found, Source(source, file_name, None)), None, (found,))


class _Checker(ast.NodeVisitor):
    def __init__(self, file_name: str, imports: Collection[str]) -> None:
        self._file_name = file_name
        self._imports = imports

    def _refuse(self, node: ast.AST, what: str, why: str) -> None:
        line = getattr(node, "lineno", 0)
        allowed = ", ".join(sorted(self._imports)) or "nothing"
        raise Refused(
            f"{self._file_name}:{line}: {what}", why, f"Remove it; what an answer may import here: {allowed}."
        )

    def _check_module(self, node: ast.AST, name: str) -> None:
        if not any(name == each or name.startswith(f"{each}.") for each in self._imports):
            self._refuse(node, f"import {name}", "an answer to this exercise may not import it.")
        self._check_path(node, name)

    def _check_path(self, node: ast.AST, name: str) -> None:
        parts = name.split(".")
        for part in parts[1:]:
            self._check_attribute(node, part)

    def _check_attribute(self, node: ast.AST, name: str) -> None:
        if name.startswith("__") and name.endswith("__"):
            self._refuse(node, name, "names with two underscores around them are Python's own.")
        if name in _ATTRIBUTES:
            self._refuse(node, f".{name}", "an answer needs no files, processes or insides of Python.")

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._check_module(node, each.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            self._refuse(node, "from .", "an answer is one file.")
            return
        if node.module == "__future__":
            return
        self._check_module(node, node.module)
        for each in node.names:
            self._check_attribute(node, each.name)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in _NAMES and isinstance(node.ctx, ast.Load):
            self._refuse(node, f"{node.id}()", "an answer needs no files, and no code made from text.")
        if node.id.startswith("__") and node.id.endswith("__"):
            self._refuse(node, node.id, "names with two underscores around them are Python's own.")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._check_attribute(node, node.attr)
        self.generic_visit(node)
