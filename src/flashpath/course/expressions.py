"""Expressions of the course's files: sizes, grids, references, counts.

They are NumPy's words without Python's rest: numbers, names, arithmetic, comparisons, subscripts, calls of
NumPy's functions and of an array's methods. Nothing in them can open a file, import, or reach an attribute
that begins with an underscore. What is not understood is refused when the file is read.
"""

from __future__ import annotations

import ast
import functools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.messages import Message, did_you_mean

_NODES = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare,
    ast.IfExp, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.Slice, ast.Tuple, ast.List,
    ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
_CONSTANTS = (int, float, str, bool, type(None), type(...))

# Of NumPy. Its other arithmetic functions are known by their type, which needs NumPy loaded.
_NUMPY_WORDS = """
    abs absolute add all allclose amax amin any arange arccos arcsin arctan argmax argmin argpartition
    argsort array array_equal asarray average bincount bitwise_and bitwise_count bitwise_or bitwise_xor
    block bool_ broadcast_to ceil clip concatenate convolve copy copysign cos cosh count_nonzero cumprod
    cumsum diag diff digitize divide dot e einsum empty exp exp2 expand_dims expm1 eye fabs flip float16
    float32 float64 floor floor_divide fmax fmin frexp full full_like heaviside histogram hstack hypot
    identity indices inf inner int16 int32 int64 int8 intp invert isclose isfinite isinf isnan ldexp
    left_shift lexsort linalg linspace log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
    logical_or logical_xor matmul max maximum mean median meshgrid min minimum mod moveaxis multiply nan
    nanmax nanmin negative newaxis nonzero ones ones_like outer pad partition pi power prod ptp
    put_along_axis ravel reciprocal remainder repeat reshape right_shift rint roll round searchsorted
    select sign signbit sin sinh sort split sqrt square squeeze stack std subtract sum swapaxes take
    take_along_axis tan tanh tensordot tile trace transpose tri tril triu true_divide trunc uint16
    uint32 uint64 uint8 unique unravel_index vander var vstack where zeros zeros_like
"""
_NUMPY = frozenset(_NUMPY_WORDS.split())
_LINALG = frozenset({"norm", "inv", "solve", "det", "matrix_power", "eigvalsh"})
# Of arrays and numbers.
_METHOD_WORDS = """
    all any argmax argmin argsort astype bit_count bit_length clip copy cumprod cumsum diagonal dot
    dtype flat flatten imag item itemsize max mean min nbytes ndim nonzero prod ravel real repeat
    reshape round searchsorted shape size sort squeeze std sum swapaxes T take trace transpose var view
"""
_METHODS = frozenset(_METHOD_WORDS.split())

Draw = Callable[[int, int], int]  # low, high → a whole number between them, both included


class ExpressionError(FlashpathError):
    """An expression that cannot be read, or has no value."""

    def __init__(self, code: str, text: str, **params: Any) -> None:
        super().__init__(code, text=text, **params)
        self.text = text


@dataclass(frozen=True)
class Drawn:
    """A size that is drawn anew in every run: `between(low, high)`, both included."""

    low: int
    high: int

    def draw(self, draw: Draw) -> int:
        return draw(self.low, self.high)

    def __str__(self) -> str:
        return f"between({self.low}, {self.high})"


def drawn(text: str) -> Drawn | None:
    """What `between(2000, 5000)` says; None where it is another expression."""
    match = re.fullmatch(r"\s*between\(\s*(\d+)\s*,\s*(\d+)\s*\)\s*", text)
    if match is None:
        if "between" in text:
            raise ExpressionError("course.expression-between", text)
        return None
    low, high = map(int, match.groups())
    if low >= high:
        raise ExpressionError("course.expression-lower-first", text, low=high, high=low)
    return Drawn(low, high)


def ceil_div(a: Any, b: Any) -> Any:
    """The quotient, rounded up."""
    return -(-a // b)


def next_power_of_two(n: int) -> int:
    """The least power of two that is not below n; 1 for 0."""
    return 1 << max(int(n) - 1, 0).bit_length()


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil_div": ceil_div,
    "next_power_of_two": next_power_of_two,
    "min": min,
    "max": max,
    "abs": abs,
    "sum": sum,
    "len": len,
    "int": int,
    "float": float,
    "log2": math.log2,
}


def evaluate(text: str, names: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression; `names` are its sizes, scalars, arrays and `report`.

    `np` and `FUNCTIONS` are known everywhere.
    """
    given = names or {}
    code, used, needs_numpy = _compiled(text)
    _check_known(text, used, given)
    # Python's own names stay out by being unknown; NumPy's methods need them to import their own modules.
    scope: dict[str, Any] = dict(FUNCTIONS)
    if needs_numpy:
        import numpy as np

        scope["np"] = np
    scope.update((name, given[name]) for name in used if name in given)
    try:
        return eval(code, scope)
    except FlashpathError:
        raise
    except ZeroDivisionError:
        raise ExpressionError("course.expression-zero", text, where=_where(used, given)) from None
    except Exception as error:
        where = _where(used, given)
        raise ExpressionError(
            "course.expression-failed", text, kind=type(error).__name__, error=error, where=where
        ) from None


def evaluate_integer(text: str, names: Mapping[str, Any] | None = None, *, least: int = 0) -> int:
    """The value of an extent or a size: whole and not negative."""
    value = evaluate(text, names)
    try:
        whole = int(value)
        is_whole = whole == value
    except (TypeError, ValueError, OverflowError):
        raise ExpressionError("course.expression-not-whole", text, value=repr(value)) from None
    if not is_whole or whole < least:
        raise ExpressionError("course.expression-too-small", text, value=value, least=least)
    return whole


def check(text: str, known: Collection[str]) -> None:
    """Refuse an expression that cannot be read, or has names that nobody gives."""
    _, used, _ = _compiled(text)
    _check_known(text, used, known)


def _check_known(text: str, used: Collection[str], known: Collection[str]) -> None:
    for name in sorted(used):
        if name not in known:
            every = [*sorted(known), "np", *FUNCTIONS]
            raise ExpressionError(
                "course.expression-no-name", text, name=name, advice=did_you_mean(name, every)
            )


def _where(used: Collection[str], given: Mapping[str, Any]) -> Message | str:
    sizes = [f"{name} = {given[name]}" for name in sorted(used) if isinstance(given.get(name), (int, float))]
    return Message("course.expression-where", {"sizes": sizes}) if sizes else ""


@functools.lru_cache(maxsize=4096)
def _compiled(text: str) -> tuple[Any, frozenset[str], bool]:
    """Code, the names that it wants, and whether it wants NumPy."""
    try:
        tree = ast.parse(text.strip(), "<expression>", "eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExpressionError("course.expression-unreadable", text) from None
    used: set[str] = set()
    for node in ast.walk(tree):
        _check_kind(text, node)
    for node in _inside_out(tree):
        _check_node(text, node)
        if isinstance(node, ast.Name):
            used.add(node.id)
    return compile(tree, "<expression>", "eval"), frozenset(used - {"np", *FUNCTIONS}), "np" in used


def _inside_out(node: ast.AST) -> Iterator[ast.AST]:
    """So that of `np.lib.npyio` np.lib is what is refused."""
    for child in ast.iter_child_nodes(node):
        yield from _inside_out(child)
    yield node


def _check_kind(text: str, node: ast.AST) -> None:
    if not isinstance(node, _NODES):
        raise ExpressionError("course.expression-no-place", text, word=type(node).__name__)


def _check_node(text: str, node: ast.AST) -> None:
    if isinstance(node, ast.Constant) and not isinstance(node.value, _CONSTANTS):
        raise ExpressionError("course.expression-no-place", text, word=repr(node.value))
    if isinstance(node, ast.Name) and node.id.startswith("_"):
        raise ExpressionError("course.expression-underscore", text, name=node.id)
    if isinstance(node, ast.Attribute):
        _check_attribute(text, node)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in FUNCTIONS:
        advice = did_you_mean(node.func.id, FUNCTIONS)
        raise ExpressionError("course.expression-no-function", text, name=node.func.id, advice=advice)


def _check_attribute(text: str, node: ast.Attribute) -> None:
    name = node.attr
    if name.startswith("_"):
        raise ExpressionError("course.expression-underscore", text, name=f".{name}")
    path = _path(node.value)
    if path[:1] == ("report",):
        return  # what a report has is seen when there is one
    if path == ("np",):
        if name not in _NUMPY and not _is_ufunc(name):
            raise ExpressionError("course.expression-numpy", text, name=f"np.{name}")
    elif path == ("np", "linalg"):
        if name not in _LINALG:
            raise ExpressionError("course.expression-numpy", text, name=f"np.linalg.{name}")
    elif (
        path[:1] == ("np",)
        and path[1:]
        and _is_ufunc(path[1])
        and name in ("reduce", "accumulate", "outer", "at")
    ):
        return  # np.logaddexp.reduce
    elif name not in _METHODS:
        raise ExpressionError(
            "course.expression-method", text, name=name, advice=did_you_mean(name, _METHODS)
        )


def _path(node: ast.AST) -> tuple[str, ...]:
    """`report.lines` as its words; empty for what is no plain path."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, (ast.Subscript, ast.Call)):
        inner = node.value if isinstance(node, ast.Subscript) else node.func
        return _path(inner)[:1] if _path(inner)[:1] == ("report",) else ()
    if isinstance(node, ast.Attribute):
        inside = _path(node.value)
        return (*inside, node.attr) if inside else ()
    return ()


def _is_ufunc(name: str) -> bool:
    import numpy as np

    return isinstance(getattr(np, name, None), np.ufunc)
