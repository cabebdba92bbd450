"""CuTe's notation, read: layouts, tilers and swizzles. What cannot be read is shown with a caret under it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NoReturn, TypeVar

from flashpath.layout.algebra import Tiler
from flashpath.layout.int_tuple import IntTuple
from flashpath.layout.layout import Layout, LayoutError
from flashpath.layout.swizzle import AnyLayout, ComposedLayout, Swizzle
from flashpath.messages import Message, told

T = TypeVar("T")
_TOKEN = re.compile(r"\s*(?P<token>_?\d+|Swizzle\b|S[wW]?\b|o\b|[(),:<>∘_-])")
_COMPOSED = ("o", "∘")


def parse_layout(text: str) -> AnyLayout:
    """Reads `((2,4),8):((1,16),2)`, or `Sw<3,3,3> o 0 o (8,64):(64,1)`.

    A shape alone gets the strides that fill memory, its first mode fastest. `_8` is CuTe's static 8.
    """
    return _Reader(text).whole(_Reader.layout)


def parse_tiler(text: str) -> Tiler:
    """Reads what divides, repeats or is composed with a layout: a layout, or a tiler for each mode.

    `4:2` and `(4,8):(8,1)` are layouts; `4` is 4:1; `(4,8)` and `<4:2,8>` are for the modes one by one, and
    `_` leaves a mode as it is.
    """
    return _Reader(text).whole(_Reader.tiler)


def parse_swizzle(text: str) -> Swizzle:
    """Reads `3,3,3` or `Sw<3,3,3>`: bits, base and shift."""
    return _Reader(text).whole(_Reader.swizzle)


def parse_tile(text: str) -> tuple[int, int]:
    """Reads `16,8` or `(16,8)`: the rows and columns of a tile."""
    reader = _Reader(text)
    if not text.lstrip().startswith("("):
        return reader.whole(_Reader.pair)
    return reader.whole(lambda inside: inside.enclosed(_Reader.pair))


class _Reader:
    """Reads a text from left to right, one token ahead."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._end = 0
        self._advance()

    def whole(self, read: Callable[[_Reader], T]) -> T:
        """Reads the whole text."""
        if not self._text.strip():
            raise LayoutError("layout.empty")
        value = read(self)
        if self._token == ")":
            raise LayoutError("layout.closed-too-often", shown=self._shown(self._at))
        if self._token:
            raise LayoutError("layout.text-left", shown=self._shown(self._at), rest=self._text[self._at :])
        return value

    # ---- What there is to read -------------------------------------------------------------------------

    def layout(self) -> AnyLayout:
        if not self._token.startswith("S"):
            return self._plain()
        swizzle, offset = self.swizzle(), 0
        self._expect(_COMPOSED, told("layout.expected-o"))
        if self._token.isdigit() and self._text[self._end :].lstrip().startswith(_COMPOSED):
            offset = self._number()
            self._advance()
        return ComposedLayout(swizzle, offset, self._plain())

    def tiler(self) -> Tiler:
        if self._token == "_":
            self._advance()
            return None
        if self._token == "<":
            return self._listed("<", ">", self.tiler)
        shape = self._int_tuple()
        return Layout(shape, self._int_tuple()) if self._skip(":") else shape

    def swizzle(self) -> Swizzle:
        named = self._token.startswith("S")
        if named:
            self._advance()
            self._expect(("<",), told("layout.expected-sign", sign="<"))
        numbers = [self._number(signed=True)]
        while len(numbers) < 3:
            self._expect((",",), told("layout.expected-swizzle"))
            numbers.append(self._number(signed=True))
        if named:
            self._expect((">",), told("layout.expected-sign", sign=">"))
        return Swizzle(*numbers)

    def pair(self) -> tuple[int, int]:
        rows = self._number()
        self._expect((",",), told("layout.expected-tile"))
        return rows, self._number()

    def enclosed(self, read: Callable[[_Reader], T]) -> T:
        self._expect(("(",), told("layout.expected-sign", sign="("))
        value = read(self)
        self._expect((")",), told("layout.expected-sign", sign=")"))
        return value

    def _plain(self) -> Layout:
        shape = self._int_tuple()
        return Layout(shape, self._int_tuple() if self._skip(":") else None)

    def _int_tuple(self) -> IntTuple:
        return self._listed("(", ")", self._int_tuple) if self._token == "(" else self._number()

    def _listed(self, opening: str, closing: str, read: Callable[[], T]) -> tuple[T, ...]:
        opened_at = self._at
        self._advance()
        parts = [read()]
        while not self._skip(closing):
            if self._token in ("", ":"):
                shown = self._shown(opened_at)
                raise LayoutError("layout.never-closed", shown=shown, sign=opening, closing=closing)
            self._expect((",",), told("layout.expected-comma", closing=closing))
            parts.append(read())
        return tuple(parts)

    def _number(self, signed: bool = False) -> int:
        sign = -1 if signed and self._skip("-") else 1
        digits = self._token.removeprefix("_")
        if not digits.isdigit():
            if self._token == "-":
                raise LayoutError("layout.negative-number", shown=self._shown(self._at))
            self._refuse_token(told("layout.expected-number"))
        self._advance()
        return sign * int(digits)

    # ---- Tokens ----------------------------------------------------------------------------------------

    def _advance(self) -> None:
        rest = self._text[self._end :]
        self._at = self._end + len(rest) - len(rest.lstrip())
        if not rest.strip():
            self._token = ""
        elif found := _TOKEN.match(self._text, self._end):
            self._token, self._end = found["token"], found.end()
        else:
            raise LayoutError("layout.unknown-sign", shown=self._shown(self._at), sign=self._text[self._at])

    def _skip(self, token: str) -> bool:
        """Goes past that token; whether it was there."""
        if self._token != token:
            return False
        self._advance()
        return True

    def _expect(self, tokens: tuple[str, ...], what: Message) -> None:
        if self._token not in tokens:
            self._refuse_token(what)
        self._advance()

    def _refuse_token(self, expected: Message) -> NoReturn:
        if self._token:
            raise LayoutError(
                "layout.unexpected-sign", shown=self._shown(self._at), sign=self._token, expected=expected
            )
        raise LayoutError("layout.ends-early", shown=self._shown(self._at), expected=expected)

    def _shown(self, position: int) -> str:
        """Returns the text with a caret under one of its letters."""
        columns = sum(
            2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in self._text[:position]
        )
        return f"\n  {self._text}\n  {' ' * columns}^"
