"""What a learner's Python may contain: looked at as a tree before any of it runs.

This finds honest mistakes and plain attempts, and says what is wrong with them. It is not what keeps a
process inside its bounds: that is the system's part (inside/restrict.py).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from flashpath.course.sandbox.errors import BuildFailed, Refused
from flashpath.jit.diagnostics import Diagnostic, show
from flashpath.jit.source import Source
from flashpath.messages import Message, told

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
        raise BuildFailed(told("course.sandbox.empty", file=file_name))
    if len(source.encode(errors="replace")) > MOST_SOURCE_BYTES or "\0" in source:
        raise Refused("course.sandbox.too-long", file=file_name)
    try:
        tree = ast.parse(source, file_name)
    except SyntaxError as error:
        problem = told("course.sandbox.python-says", text=f"SyntaxError: {error.msg}")
        raise failed_at(source, file_name, problem, error.lineno or 0, error.offset) from None
    except (RecursionError, MemoryError, ValueError):
        raise _too_deep(file_name) from None
    try:
        _Checker(file_name, imports, own_variables(tree)).visit(tree)
    except RecursionError:
        raise _too_deep(file_name) from None


def _too_deep(file_name: str) -> Refused:
    return Refused("course.sandbox.too-deep", file=file_name)


def failed_at(
    source: str, file_name: str, problem: Message, line: int, column: int | None = None
) -> BuildFailed:
    """Returns the error for a line of the learner's file, shown below it; `line` is 0 for none."""
    if line <= 0:
        return BuildFailed(told("course.sandbox.in-file", file=file_name, problem=problem))
    where, listing = place_of(source, file_name, line, column)
    said = told("course.sandbox.at-place", where=where, problem=problem, listing=listing)
    return BuildFailed(said, (Diagnostic(file_name, line, column, "error", ""),))


def place_of(source: str, file_name: str, line: int, column: int | None = None) -> tuple[str, str]:
    """Returns `file:line:column`, and the line below it with a caret."""
    nothing_said = Diagnostic(file_name, line, column, "error", "")
    head, newline, listing = show(nothing_said, Source(source, file_name, None)).partition("\n")
    return head.removesuffix(": error: "), newline + listing


class _Checker(ast.NodeVisitor):
    def __init__(self, file_name: str, imports: Collection[str], own: Collection[ast.AST]) -> None:
        self._file_name = file_name
        self._imports = imports
        self._own = own

    def _refuse(self, node: ast.AST, what: str, code: str) -> None:
        where = f"{self._file_name}:{getattr(node, 'lineno', 0)}: {what}"
        raise Refused(code, where=where, allowed=sorted(self._imports) or told("course.sandbox.nothing"))

    def _check_module(self, node: ast.AST, name: str) -> None:
        if not any(name == each or name.startswith(f"{each}.") for each in self._imports):
            self._refuse(node, f"import {name}", "course.sandbox.refused-import")
        self._check_path(node, name)

    def _check_path(self, node: ast.AST, name: str) -> None:
        parts = name.split(".")
        for part in parts[1:]:
            self._check_attribute(node, part)

    def _check_attribute(self, node: ast.AST, name: str) -> None:
        if name.startswith("__") and name.endswith("__"):
            self._refuse(node, name, "course.sandbox.refused-own-name")
        if name in _ATTRIBUTES:
            self._refuse(node, f".{name}", "course.sandbox.refused-attribute")

    def visit_Import(self, node: ast.Import) -> None:
        for each in node.names:
            self._check_module(node, each.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or node.module is None:
            self._refuse(node, "from .", "course.sandbox.refused-relative-import")
            return
        if node.module == "__future__":
            return
        self._check_module(node, node.module)
        for each in node.names:
            self._check_attribute(node, each.name)

    def visit_Name(self, node: ast.Name) -> None:
        is_read = isinstance(node.ctx, ast.Load)
        if node.id in _NAMES and is_read and node not in self._own:
            self._refuse(node, f"{node.id}()", "course.sandbox.refused-builtin")
        if node.id == "__name__" and is_read:  # as in the last lines of many a file
            return
        if node.id.startswith("__") and node.id.endswith("__"):
            self._refuse(node, node.id, "course.sandbox.refused-own-name")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._check_attribute(node, node.attr)
        self.generic_visit(node)


# ---- A function's own variables --------------------------------------------------------------------------

_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def own_variables(tree: ast.AST) -> set[ast.AST]:
    """The names that read a variable of the function around them, and can read nothing else.

    Such a name is never Python's own of the same spelling: before it is bound, reading it is an error. This
    holds for functions and comprehensions alone. At the top of a file and in a class a name that is not bound
    yet is Python's.
    """
    found: set[ast.AST] = set()
    _collect(tree, frozenset(), found)
    return found


def _collect(node: ast.AST, own: frozenset[str], found: set[ast.AST]) -> None:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in own:
        found.add(node)
    inside: set[ast.AST] = set()  # what of it is in its scope; decorators, defaults and annotations are not
    names = own
    if isinstance(node, _Function):
        body = _body(node)
        inside.update(body)
        names = (own | _bound(node)) - _declared_global(body)
    elif isinstance(node, ast.ClassDef):
        inside.update(node.body)
        names = own - set(_stored(node.body)) - _declared_global(node.body)
    elif isinstance(node, _Comprehension):
        names = own | set(_stored([each.target for each in node.generators]))
        first = node.generators[0]
        _collect(first.iter, own, found)  # made before the scope begins
        for child in (first.target, *first.ifs, *ast.iter_child_nodes(node)):
            if child is not first:
                _collect(child, names, found)
        return
    for child in ast.iter_child_nodes(node):
        _collect(child, names if child in inside else own, found)


def _body(function: _Function) -> list[ast.AST]:
    return [*function.body] if isinstance(function.body, list) else [function.body]


def _bound(function: _Function) -> set[str]:
    """Parameters, and what is assigned in the body itself."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    names = {each.arg for each in every if each is not None}
    body = _body(function)
    return names | (set(_stored(body)) - _declared_elsewhere(body))


def _stored(body: Collection[ast.AST]) -> Iterator[str]:
    for node in _within(body):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def _declared_global(body: Collection[ast.AST]) -> set[str]:
    return {name for node in _within(body) if isinstance(node, ast.Global) for name in node.names}


def _declared_elsewhere(body: Collection[ast.AST]) -> set[str]:
    kinds = ast.Global, ast.Nonlocal
    return {name for node in _within(body) if isinstance(node, kinds) for name in node.names}


def _within(body: Collection[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a scope, without those of the scopes in it."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _Function | _Comprehension | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
