"""Names that a function may not use, looked for in its source before it runs.

`np.exp2` is found as `np.exp2`, `numpy.exp2`, under any alias, and as `from numpy import exp2`;
`torch.softmax` also as the method `x.softmax`. A function's own variable of such a name, as in `sum = 0`, is
none of them. What could look names up at run time (getattr, eval …) the sandbox refuses.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from flashpath.course.grader.verdict import Failure
from flashpath.course.sandbox.python_source import own_variables
from flashpath.messages import told

_ALIASES = {"np": "numpy", "F": "torch.nn.functional"}


def check(source: str, forbidden: Sequence[str]) -> Failure | None:
    """A failure that names the line, or None. A file that Python cannot read is left to the compiler."""
    if not forbidden:
        return None
    try:
        tree = ast.parse(source)
        own = own_variables(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    banned = {_full(name, _ALIASES) for name in forbidden}
    aliases = _imports(tree)
    for node in ast.walk(tree):
        if node in own or (isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)):
            continue
        for line, name in _uses(node, aliases, banned):
            return Failure("refused", told("course.grader.forbidden", line=line, name=name))
    return None


def _imports(tree: ast.AST) -> dict[str, str]:
    """What each imported name stands for: np → numpy."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for each in node.names:
                found[each.asname or each.name.partition(".")[0]] = (
                    each.name if each.asname else each.name.partition(".")[0]
                )
        elif isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                found[each.asname or each.name] = f"{node.module}.{each.name}"
    return found


def _uses(node: ast.AST, aliases: dict[str, str], banned: set[str]) -> Iterator[tuple[int, str]]:
    if isinstance(node, (ast.Name, ast.Attribute)):
        written = _dotted(node)
        if written is not None and _is_banned(_full(written, aliases), banned):
            yield node.lineno, written
        # A method (x.softmax()) of a banned function's name does the same.
        elif isinstance(node, ast.Attribute) and any(each.rpartition(".")[2] == node.attr for each in banned):
            yield node.lineno, node.attr
    elif isinstance(node, ast.Import):
        for each in node.names:
            if _is_banned(each.name, banned):
                yield node.lineno, each.name
    elif isinstance(node, ast.ImportFrom) and node.module:
        for each in node.names:
            full = f"{node.module}.{each.name}"
            if _is_banned(full, banned) or (
                each.name == "*" and any(b.startswith(node.module) for b in banned)
            ):
                yield node.lineno, full


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inside = _dotted(node.value)
        return None if inside is None else f"{inside}.{node.attr}"
    return None


def _full(name: str, aliases: dict[str, str]) -> str:
    first, dot, rest = name.partition(".")
    return f"{aliases.get(first, first)}{dot}{rest}"


def _is_banned(full: str, banned: set[str]) -> bool:
    """The name itself, or what belongs to it: torch.nn forbids torch.nn.functional too."""
    return any(full == each or full.startswith(f"{each}.") for each in banned)
