"""Reads the part of the Itanium C++ name mangling in which CUDA compilers write kernel signatures.

Only what a kernel's name and parameter types can contain is understood; anything else raises `Unreadable`,
and the caller falls back to what PTX alone says of the parameters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BUILTINS = {
    "v": "void",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "w": "wchar_t",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "n": "__int128",
    "o": "unsigned __int128",
    "f": "float",
    "d": "double",
    "e": "long double",
    "g": "__float128",
    "Ds": "char16_t",
    "Di": "char32_t",
    "Du": "char8_t",
    "Dh": "_Float16",
    "DF16_": "_Float16",
    "DF16b": "__bf16",
    "Dn": "decltype(nullptr)",
}
_DEEPEST = 100  # types nested deeper than any kernel's: stops before Python's own stack does
_LONGEST = 100_000  # characters: substitutions can double a type's text with every few letters
_STANDARD = {"St": "std", "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string"}


class Unreadable(ValueError):
    """The name uses a part of the mangling that kernels' signatures do not need."""


@dataclass(frozen=True)
class CType:
    """A C++ type, as far as passing an argument needs it."""

    text: str
    pointee: CType | None = None  # for pointers
    parameters: tuple[CType, ...] | None = None  # for functions
    const: bool = False

    def __str__(self) -> str:
        return self.text

    def to_json(self) -> dict[str, Any]:
        """Returns it as the cache keeps it."""
        pointee = self.pointee.to_json() if self.pointee is not None else None
        parameters = None if self.parameters is None else [each.to_json() for each in self.parameters]
        return {"text": self.text, "const": self.const, "pointee": pointee, "parameters": parameters}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CType:
        pointee, parameters = data["pointee"], data["parameters"]
        return cls(
            data["text"],
            None if pointee is None else cls.from_json(pointee),
            None if parameters is None else tuple(cls.from_json(each) for each in parameters),
            data["const"],
        )


@dataclass(frozen=True)
class Function:
    """A demangled function: its qualified name with template arguments, and its parameters' types."""

    name: str
    parameters: tuple[CType, ...]


def demangle(mangled: str) -> Function:
    """`_ZN2ns3barEPfi` → ns::bar with parameters (float*, int)."""
    parser = _Parser(mangled)
    parser.expect("_Z")
    parser.take("L")  # internal linkage
    name, is_template = parser.name()
    if is_template:
        parser.type()  # template functions spell their return type
    parameters = parser.parameters(until_end=True)
    return Function(name, parameters)


def signature_argument(mangled: str) -> tuple[int, tuple[CType, ...]]:
    """`_Z12fp_signatureILi3EPFviPfEE` → (3, (int, float*)): the template arguments of a signature marker."""
    parser = _Parser(mangled)
    parser.expect("_Z")
    parser.source_name()
    parser.remember(CType("fp_signature"))
    parser.expect("ILi")
    index = parser.number()
    parser.expect("E")
    pointer = parser.type()
    if pointer.pointee is None or pointer.pointee.parameters is None:
        raise Unreadable(f"{mangled}: {pointer} is no pointer to a function")
    return index, pointer.pointee.parameters


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.substitutions: list[CType] = []
        self.template_arguments: list[CType] = []
        self.depth = 0

    # The reader's hands -----------------------------------------------------------------------------

    def peek(self, prefix: str) -> bool:
        return self.text.startswith(prefix, self.at)

    def take(self, prefix: str) -> bool:
        if self.peek(prefix):
            self.at += len(prefix)
            return True
        return False

    def expect(self, prefix: str) -> None:
        if not self.take(prefix):
            raise Unreadable(f"{self.text}: expected {prefix!r} at {self.at}: {self.text[self.at :][:20]!r}")

    def number(self) -> int:
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
        if not 0 < self.at - start < 10:
            raise Unreadable(f"{self.text}: expected a number at {start}")
        return int(self.text[start : self.at])

    def until(self, end: str) -> str:
        """Returns what stands before the next `end`, and reads past it."""
        found, mark, _ = self.text[self.at :].partition(end)
        if not mark:
            raise Unreadable(f"{self.text}: no {end!r} after {self.at}")
        self.at += len(found) + len(end)
        return found

    def source_name(self) -> str:
        length = self.number()
        name = self.text[self.at : self.at + length]
        if length == 0 or len(name) < length:
            raise Unreadable(f"{self.text}: a name of {length} characters at {self.at}")
        self.at += length
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N") else name

    def remember(self, kind: CType) -> CType:
        if len(kind.text) > _LONGEST:
            raise Unreadable(f"{self.text}: a type of more than {_LONGEST} characters")
        self.substitutions.append(kind)
        return kind

    # Names ------------------------------------------------------------------------------------------

    def name(self) -> tuple[str, bool]:
        """A function's name, and whether it carries template arguments."""
        if self.peek("N"):
            kind, arguments = self.nested_name()
            self.template_arguments = arguments or []
            return kind.text, arguments is not None
        if self.take("St"):
            text = f"std::{self.source_name()}"
        elif self.peek("S"):
            text = self.substitution().text
        else:
            text = self.source_name()
        if not self.peek("I"):
            return text, False
        self.remember(CType(text))
        arguments = self.arguments()
        self.template_arguments = arguments
        return text + _angle(arguments), True

    def nested_name(self) -> tuple[CType, list[CType] | None]:
        """The name, and the template arguments of its last part."""
        self.expect("N")
        while self.take("K") or self.take("V") or self.take("r"):
            pass
        prefix: CType | None = None
        arguments: list[CType] | None = None
        while not self.take("E"):
            arguments = None
            if self.peek("S") and not self.peek("St"):
                prefix = self.substitution()
                continue
            if self.peek("St") and prefix is None:
                self.expect("St")
                prefix = CType("std")
                continue
            if self.peek("I") and prefix is not None:
                arguments = self.arguments()
                prefix = CType(prefix.text + _angle(arguments))
            elif self.peek("L"):
                self.take("L")  # a name of internal linkage
                continue
            else:
                step = self.source_name()
                prefix = CType(f"{prefix.text}::{step}" if prefix else step)
            if not self.peek("E"):
                self.remember(prefix)
        if prefix is None:
            raise Unreadable(f"{self.text}: an empty nested name")
        return prefix, arguments

    def substitution(self) -> CType:
        for code, meaning in _STANDARD.items():
            if self.take(code):
                return CType(meaning)
        self.expect("S")
        digits = self.until("_")
        if not re.fullmatch(r"[0-9A-Z]{0,6}", digits):
            raise Unreadable(f"{self.text}: {digits!r} numbers no component")
        return self._nth(self.substitutions, int(digits, 36) + 1 if digits else 0)

    def _nth(self, kinds: list[CType], index: int) -> CType:
        if index >= len(kinds):
            raise Unreadable(f"{self.text}: refers to component {index} of {len(kinds)}")
        return kinds[index]

    # Types ------------------------------------------------------------------------------------------

    def parameters(self, until_end: bool) -> tuple[CType, ...]:
        kinds: list[CType] = []
        while self.at < len(self.text) if until_end else not self.take("E"):
            kinds.append(self.type())
        return () if [kind.text for kind in kinds] == ["void"] else tuple(kinds)

    def type(self) -> CType:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise Unreadable(f"{self.text}: nested more than {_DEEPEST} deep")
        kind = self._type()
        self.depth -= 1
        return kind

    def _type(self) -> CType:
        for code in sorted(_BUILTINS, key=len, reverse=True):
            if self.take(code):
                return CType(_BUILTINS[code])
        if self.peek("r") or self.peek("V") or self.peek("K"):
            # All qualifiers of a type are one component; only const matters to who passes the value.
            const = False
            while self.peek("r") or self.peek("V") or self.peek("K"):
                const |= self.text[self.at] == "K"
                self.at += 1
            inner = self.type()
            text = inner.text
            if const:
                text = f"{inner} const" if inner.pointee else f"const {inner}"
            return self.remember(CType(text, inner.pointee, inner.parameters, const))
        if self.take("P"):
            inner = self.type()
            return self.remember(CType(f"{inner}*", pointee=inner))
        if self.take("F"):
            returned = self.type()
            parameters = self.parameters(until_end=False)
            text = f"{returned}({', '.join(map(str, parameters))})"
            return self.remember(CType(text, parameters=parameters))
        if self.take("A"):
            length = self.number() if not self.peek("_") else 0
            self.expect("_")
            inner = self.type()
            return self.remember(CType(f"{inner}[{length}]"))
        if self.peek("T"):
            return self.remember(self.template_parameter())
        if self.peek("N"):
            kind, _ = self.nested_name()
            return self.remember(kind)
        if self.peek("S") and not self.peek("St"):
            kind = self.substitution()
            return self.remember(CType(kind.text + _angle(self.arguments()))) if self.peek("I") else kind
        return self.class_name()

    def class_name(self) -> CType:
        kind = CType(f"std::{self.source_name()}" if self.take("St") else self.source_name())
        self.remember(kind)
        if self.peek("I"):
            kind = self.remember(CType(kind.text + _angle(self.arguments())))
        return kind

    def template_parameter(self) -> CType:
        self.expect("T")
        index = 0 if self.peek("_") else self.number() + 1
        self.expect("_")
        return self._nth(self.template_arguments, index)

    def arguments(self) -> list[CType]:
        self.expect("I")
        found: list[CType] = []
        while not self.take("E"):
            if self.take("J"):
                while not self.take("E"):
                    found.append(self.argument())
            else:
                found.append(self.argument())
        return found

    def argument(self) -> CType:
        return self.literal() if self.take("L") else self.type()

    def literal(self) -> CType:
        kind = self.type()
        value = self.until("E").replace("n", "-")
        if kind.text == "bool":
            return CType("true" if value == "1" else "false")
        return CType(value if kind.text == "int" else f"({kind}){value}")


def _angle(arguments: list[CType]) -> str:
    return f"<{', '.join(map(str, arguments))}>"
