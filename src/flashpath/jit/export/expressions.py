"""Numbers that a library computes when it is called: extents, addresses, and what is made of them.

An expression is written twice: in C++ for the library, and in Python's notation for people.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

Number = Union[int, "Expression"]


@dataclass(frozen=True)
class Symbol:
    """A number that is known when the library is called: its C++ expression, and its name for people."""

    cpp: str
    shown: str


@dataclass(frozen=True)
class Operation:
    """An operator or function of numbers."""

    name: str
    operands: tuple[Number, ...]


Expression = Symbol | Operation


def _apart(a: int, a_bytes: int, b: int, b_bytes: int) -> bool:
    """Whether two pieces of memory, each an address and its bytes, share none."""
    return a + a_bytes <= b or b + b_bytes <= a


def _bit_length(value: int) -> int:
    return value.bit_length()


_any: Any = operator
_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": _any.add,
    "-": _any.sub,
    "*": _any.mul,
    "//": _any.floordiv,
    "%": _any.mod,
    "<<": _any.lshift,
    ">>": _any.rshift,
    "&": _any.and_,
    "|": _any.or_,
    "<": _any.lt,
    "<=": _any.le,
    ">": _any.gt,
    ">=": _any.ge,
    "==": _any.eq,
    "!=": _any.ne,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_BINARY,
    "min": min,
    "max": max,
    "neg": _any.neg,
    "bit_length": _bit_length,
    "apart": _apart,
}
# These are functions in C++, where quotients are rounded towards zero, and nobody notices a division by it.
_IN_CPP = {
    "//": "floor_div",
    "%": "floor_mod",
    "<<": "shifted_left",
    ">>": "shifted_right",
    "min": "least",
    "max": "most",
    "bit_length": "bit_length",
    "apart": "apart",
}
_BINDS = {
    "==": 1,
    "!=": 1,
    "<": 1,
    "<=": 1,
    ">": 1,
    ">=": 1,
    "|": 2,
    "&": 3,
    "<<": 4,
    ">>": 4,
    "+": 5,
    "-": 5,
}
_PRODUCT, _SIGN, _ATOM = 6, 7, 9


def apply(name: str, *operands: Number) -> Number:
    """The number that the operation makes, or the expression for it where it is not known yet."""
    if name == "cdiv":
        top, bottom = operands
        return apply("neg", apply("//", apply("neg", top), bottom))
    if not any(isinstance(each, Symbol | Operation) for each in operands):
        return int(FUNCTIONS[name](*operands))
    first, *rest = operands
    second = rest[0] if rest else None
    if name in ("//", "%") and second == 0:
        raise ZeroDivisionError
    if (name == "-" and first == second) or (name == "%" and second == 1):
        return 0
    if name == "neg" and isinstance(first, Operation) and first.name == "neg":
        return first.operands[0]
    if (name in ("+", "-") and second == 0) or (name in ("*", "//") and second == 1):
        return first
    if (name == "+" and first == 0) or (name == "*" and first == 1):
        assert second is not None
        return second
    return Operation(name, operands)


def cpp(number: Number) -> str:
    """The number in C++, of the type Wide, in which nothing overflows."""
    if isinstance(number, int):
        digits = abs(number)
        high, low = digits >> 64, digits & (2**64 - 1)
        text = f"(Wide({high}ull) << 64 | {low}ull)" if high else f"Wide({low}ull)"
        return f"-{text}" if number < 0 else text
    if isinstance(number, Symbol):
        return f"Wide({number.cpp})"
    operands = [cpp(each) for each in number.operands]
    if number.name == "neg":
        return f"(-{operands[0]})"
    if number.name in _IN_CPP:
        return f"{_IN_CPP[number.name]}({', '.join(operands)})"
    return f"({operands[0]} {number.name} {operands[1]})"


def shown(number: Number) -> str:
    """The number as people read it."""
    return _shown(number)[0]


def _shown(number: Number) -> tuple[str, int]:
    """The text, and how strongly its outermost operator binds."""
    match number:
        case int():
            return str(number), _ATOM if number >= 0 else _SIGN
        case Symbol():
            return number.shown, _ATOM
        case Operation("neg", (Operation("//", (Operation("neg", (top,)), bottom)),)):
            return f"cdiv({shown(top)}, {shown(bottom)})", _ATOM
        case Operation("neg", (operand,)):
            return f"-{_inside(operand, _SIGN)}", _SIGN
        case Operation("apart", (Symbol() as one, _, Symbol() as other, _)):
            return f"apart({', '.join(each.shown.removesuffix('.address') for each in (one, other))})", _ATOM
        case Operation(name, (left, right)) if name in _BINARY:
            binds = _BINDS.get(name, _PRODUCT)
            return f"{_inside(left, binds)} {name} {_inside(right, binds + 1)}", binds
        case Operation(name, operands):
            return f"{name}({', '.join(map(shown, operands))})", _ATOM


def _inside(number: Number, binds: int) -> str:
    text, own = _shown(number)
    return text if own >= binds else f"({text})"


def evaluate(number: Number, values: Mapping[Symbol, int]) -> int:
    """The number for such values of the symbols."""
    if isinstance(number, int):
        return number
    if isinstance(number, Symbol):
        return values[number]
    return int(FUNCTIONS[number.name](*(evaluate(each, values) for each in number.operands)))


def symbols(number: Number) -> frozenset[Symbol]:
    """The symbols that a number depends on."""
    if isinstance(number, int):
        return frozenset()
    if isinstance(number, Symbol):
        return frozenset((number,))
    return frozenset[Symbol]().union(*map(symbols, number.operands))


def substituted(number: Number, fixed: Mapping[Expression, int]) -> Number:
    """The number with what is fixed in the place of the expressions that are known to be it."""
    if isinstance(number, int):
        return number
    if number in fixed:
        return fixed[number]
    if isinstance(number, Symbol):
        return number
    return apply(number.name, *(substituted(each, fixed) for each in number.operands))


def simplified(guards: Sequence[Expression]) -> tuple[dict[Expression, int], tuple[Expression, ...]]:
    """What the guards fix, and the same guards in fewer words, by what the others fix.

    A guard that fixes an expression stays, in terms of smaller ones that are fixed.
    """
    fixed: dict[Expression, int] = {}
    before: tuple[Expression, ...] = ()
    now = tuple(guards)
    while now != before:  # what is simpler may fix more
        before = now
        now = _simplified_once(now, fixed)
    return fixed, now


def _simplified_once(guards: Sequence[Expression], fixed: dict[Expression, int]) -> tuple[Expression, ...]:
    plain = [_without_power(guard) for guard in guards]
    for guard in plain:
        if isinstance(guard, Operation) and guard.name == "==":
            left, right = guard.operands
            if isinstance(right, int) and not isinstance(left, int):
                fixed.setdefault(left, right)
    kept: dict[Expression, None] = {}
    for guard in plain:
        simple: Number
        match guard:
            case Operation("==", (Symbol(), int())):
                simple = guard
            case Operation("==", (Operation(name, operands) as left, int() as value)) if left in fixed:
                simple = apply("==", apply(name, *(substituted(each, fixed) for each in operands)), value)
            case _:
                simple = substituted(guard, fixed)
        if not isinstance(simple, int):
            kept[simple] = None
    return tuple(kept)


def _without_power(guard: Expression) -> Expression:
    """Says of 1 << n == 8 that n is 3."""
    match guard:
        case Operation("==", (Operation("<<", (1, Symbol() | Operation() as power)), int() as value)):
            return Operation("==", (power, value.bit_length() - 1))
        case _:
            return guard
