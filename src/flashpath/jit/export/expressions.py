"""Numbers that a library computes when it is called: extents, addresses, and what is made of them.

An `Expression` is written twice: in C++ for the library, and in Python's notation for people. `Known` is an
expression together with its value in one call: host code computes with it as with an int, and whatever the host code
decides by it (a comparison, a template argument) is kept as a guard.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsIndex, Union, cast

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

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "&": operator.and_,
    "|": operator.or_,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_BINARY,
    "min": min,
    "max": max,
    "cdiv": lambda a, b: -(-a // b),
    "neg": operator.neg,
    "bit_length": lambda value: int(value).bit_length(),
    # Of two pieces of memory, each an address and its bytes: whether they share none.
    "apart": lambda a, a_bytes, b, b_bytes: a + a_bytes <= b or b + b_bytes <= a,
}
_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
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
_BINDS = {"==": 1, "!=": 1, "<": 1, "<=": 1, ">": 1, ">=": 1, "|": 2, "&": 3, "<<": 4, ">>": 4, "+": 5, "-": 5}
_PRODUCT, _SIGN, _ATOM = 6, 7, 9


def apply(name: str, *operands: Number) -> Number:
    """The number that the operation makes, or the expression for it where it is not known yet."""
    if not any(isinstance(each, Symbol | Operation) for each in operands):
        return int(FUNCTIONS[name](*operands))
    if name == "cdiv":
        top, bottom = operands
        return apply("neg", apply("//", apply("neg", top), bottom))
    first, *rest = operands
    second = rest[0] if rest else None
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


# ---- In one call -----------------------------------------------------------------------------------------


@dataclass
class Trace:
    """One call of host code: the guards that hold in it, in the order in which they were asked for."""

    guards: dict[Expression, None] = field(default_factory=dict[Expression, None])

    def known(self, symbol: Symbol, value: int) -> Known:
        """The symbol with its value in this call."""
        return Known(self, symbol, value)

    def decided(self, comparison: Number, holds: bool) -> bool:
        """The host code went the way that the comparison says."""
        if isinstance(comparison, Operation):
            if not holds:
                comparison = Operation(_OPPOSITES[comparison.name], comparison.operands)
            self.guards[comparison] = None
        return holds


@dataclass(eq=False, repr=False)
class Known:
    """A number that host code computes with. It is no int: what Python's own functions take is noticed."""

    trace: Trace
    number: Number
    value: int

    def __index__(self) -> int:
        """The value; from here on the host code depends on it."""
        return self.fixed()

    def fixed(self) -> int:
        """The value, which a call of the library must have as well."""
        self.trace.decided(apply("==", self.number, self.value), True)
        return self.value

    def __int__(self) -> int:
        return self.fixed()

    def __float__(self) -> float:
        return float(self.fixed())

    def __bool__(self) -> bool:
        return self.trace.decided(apply("!=", self.number, 0), self.value != 0)

    def __hash__(self) -> int:
        return hash(self.fixed())

    def __str__(self) -> str:
        return str(self.fixed())

    def __format__(self, spec: str) -> str:
        return format(self.fixed(), spec)

    def __repr__(self) -> str:
        """For messages, in which shapes stand: nothing is decided by it, so it is not the number alone."""
        return f"{self.value} ({shown(self.number)})"

    def bit_length(self) -> Known:
        """As int has it."""
        return Known(self.trace, apply("bit_length", self.number), self.value.bit_length())

    def __neg__(self) -> Known:
        return Known(self.trace, apply("neg", self.number), -self.value)

    def __pos__(self) -> Known:
        return self

    def _with(self, name: str, other: object, swapped: bool = False) -> Any:
        if isinstance(other, float):
            return getattr(operator, _FLOAT[name])(*_in_order(float(self), other, swapped))
        if not isinstance(other, SupportsIndex):
            return NotImplemented
        number: Number = other.number if isinstance(other, Known) else operator.index(other)
        value = other.value if isinstance(other, Known) else operator.index(other)
        numbers = _in_order(self.number, number, swapped)
        values = _in_order(self.value, value, swapped)
        return Known(self.trace, apply(name, *numbers), int(FUNCTIONS[name](*values)))

    def _compared(self, name: str, other: object) -> Any:
        if isinstance(other, float):
            return FUNCTIONS[name](float(self), other)
        if not isinstance(other, SupportsIndex):
            return NotImplemented
        number: Number = other.number if isinstance(other, Known) else operator.index(other)
        value = other.value if isinstance(other, Known) else operator.index(other)
        holds = bool(FUNCTIONS[name](self.value, value))
        return holds if number == self.number else self.trace.decided(apply(name, self.number, number), holds)

    def __truediv__(self, other: object) -> Any:
        return float(self) / cast("Any", other)

    def __rtruediv__(self, other: object) -> Any:
        return cast("Any", other) / float(self)

    def __divmod__(self, other: object) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: object) -> Any:
        return other // self, other % self

    def __eq__(self, other: object) -> Any:
        return self._compared("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compared("!=", other)


_FLOAT = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod"}


def _in_order(own: Any, other: Any, swapped: bool) -> tuple[Any, Any]:
    return (other, own) if swapped else (own, other)


def _give_operators() -> None:
    """Gives `Known` the operators of int: each keeps the expression of what it computes."""

    def binary(name: str, swapped: bool) -> Callable[[Known, object], Any]:
        return lambda self, other: self._with(name, other, swapped)  # pyright: ignore[reportPrivateUsage]

    def comparison(name: str) -> Callable[[Known, object], Any]:
        return lambda self, other: self._compared(name, other)  # pyright: ignore[reportPrivateUsage]

    words = {"+": "add", "-": "sub", "*": "mul", "//": "floordiv", "%": "mod"}
    words |= {"<<": "lshift", ">>": "rshift", "&": "and", "|": "or"}
    for name, word in words.items():
        setattr(Known, f"__{word}__", binary(name, False))
        setattr(Known, f"__r{word}__", binary(name, True))
    for name, word in {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}.items():
        setattr(Known, f"__{word}__", comparison(name))


_give_operators()
