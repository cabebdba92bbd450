"""Numbers that host code computes with as with ints, while what it decides by them is kept.

A `Known` is an expression together with its value in one call. Whatever the host code decides by it (a
comparison, a template argument) becomes a guard: where the guards hold, it would decide the same again.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

from flashpath.jit.export.expressions import FUNCTIONS, Expression, Number, Operation, Symbol, apply, shown

_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


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
        """Shows a shape in messages: nothing is decided by it, so it is not the number alone."""
        return f"{self.value} ({shown(self.number)})"

    def bit_length(self) -> Known:
        """Returns the number of bits, which is an expression too."""
        return Known(self.trace, apply("bit_length", self.number), self.value.bit_length())

    def __neg__(self) -> Known:
        return Known(self.trace, apply("neg", self.number), -self.value)

    def __pos__(self) -> Known:
        return self

    def _with(self, name: str, other: object, swapped: bool = False) -> Any:
        if isinstance(other, float):
            return FUNCTIONS[name](*_in_order(float(self), other, swapped))
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

    def __add__(self, other: object) -> Any:
        return self._with("+", other)

    def __radd__(self, other: object) -> Any:
        return self._with("+", other, swapped=True)

    def __sub__(self, other: object) -> Any:
        return self._with("-", other)

    def __rsub__(self, other: object) -> Any:
        return self._with("-", other, swapped=True)

    def __mul__(self, other: object) -> Any:
        return self._with("*", other)

    def __rmul__(self, other: object) -> Any:
        return self._with("*", other, swapped=True)

    def __floordiv__(self, other: object) -> Any:
        return self._with("//", other)

    def __rfloordiv__(self, other: object) -> Any:
        return self._with("//", other, swapped=True)

    def __mod__(self, other: object) -> Any:
        return self._with("%", other)

    def __rmod__(self, other: object) -> Any:
        return self._with("%", other, swapped=True)

    def __lshift__(self, other: object) -> Any:
        return self._with("<<", other)

    def __rlshift__(self, other: object) -> Any:
        return self._with("<<", other, swapped=True)

    def __rshift__(self, other: object) -> Any:
        return self._with(">>", other)

    def __rrshift__(self, other: object) -> Any:
        return self._with(">>", other, swapped=True)

    def __and__(self, other: object) -> Any:
        return self._with("&", other)

    def __rand__(self, other: object) -> Any:
        return self._with("&", other, swapped=True)

    def __or__(self, other: object) -> Any:
        return self._with("|", other)

    def __ror__(self, other: object) -> Any:
        return self._with("|", other, swapped=True)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __truediv__(self, other: Any) -> Any:
        return float(self) / other

    def __rtruediv__(self, other: Any) -> Any:
        return other / float(self)

    def __eq__(self, other: object) -> Any:
        return self._compared("==", other)

    def __ne__(self, other: object) -> Any:
        return self._compared("!=", other)

    def __lt__(self, other: object) -> Any:
        return self._compared("<", other)

    def __le__(self, other: object) -> Any:
        return self._compared("<=", other)

    def __gt__(self, other: object) -> Any:
        return self._compared(">", other)

    def __ge__(self, other: object) -> Any:
        return self._compared(">=", other)


def _in_order(own: Any, other: Any, swapped: bool) -> tuple[Any, Any]:
    return (other, own) if swapped else (own, other)
