"""Reads a TOML table strictly: what is missing, misspelt or of another type is an error with words.

A table knows its file and where it stands in it, and which keys were asked for. `done` refuses the others.
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Collection, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Never, cast

from flashpath.course.content.errors import ContentError
from flashpath.course.content.text import Texts
from flashpath.messages import LANGUAGES, Message, Text, did_you_mean, told

_TYPES = {
    str: told("course.content.a-text"),
    int: told("course.content.a-whole-number"),
    float: told("course.content.a-number"),
    bool: told("course.content.true-or-false"),
    list: told("course.content.a-list"),
    dict: told("course.content.a-table"),
}


@contextlib.contextmanager
def table_of(file: Path) -> Generator[Table]:
    """The whole file; what nobody asked for is refused at the end."""
    table = Table(parse(file), file)
    yield table
    table.done()


def parse(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(read(file))
    except tomllib.TOMLDecodeError as error:
        raise ContentError("course.content.not-toml", file, None, error=str(error)) from None


def read(file: Path) -> str:
    """A text file of the course."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ContentError("course.content.no-file", file, None) from None
    except UnicodeDecodeError as error:
        raise ContentError("course.content.not-utf-8", file, None, byte=error.start) from None


class Table:
    def __init__(self, values: Mapping[str, Any], file: Path, path: str = "") -> None:
        self.values = values
        self.file = file
        self.path = path
        self._asked: set[str] = set()

    # ---- Errors ------------------------------------------------------------------------------------

    def wrong(self, key: str | None, code: str, /, **params: Any) -> Never:
        raise ContentError(code, self.file, self.key(key), **params)

    def key(self, key: str | None) -> str | None:
        """The key as it is written from the top of the file."""
        return ".".join(filter(None, (self.path, key))) or None

    def missing(self, key: str, example: str | Message) -> Never:
        self.wrong(key, "course.content.missing", key=key, example=example)

    def done(self) -> None:
        """Every key that was not asked for is refused."""
        for name in self.values:
            if name not in self._asked:
                self.wrong(
                    name,
                    "course.content.unknown-key",
                    advice=did_you_mean(name, sorted(self._asked)) or told("course.content.leave-it-out"),
                )

    # ---- Values ------------------------------------------------------------------------------------

    def __contains__(self, key: str) -> bool:
        return key in self.values

    def raw(self, key: str) -> Any:
        """The value as TOML has it, None where there is none."""
        self._asked.add(key)
        return self.values.get(key)

    def _typed(self, key: str, kind: type) -> Any:
        value = self.raw(key)
        if value is None:
            return None
        right = isinstance(value, (int, float) if kind is float else kind)
        if not right or (kind in (int, float) and isinstance(value, bool)):
            self.wrong(key, "course.content.other-type", value=_show(value), kind=_TYPES[kind])
        return value

    def maybe_string(self, key: str) -> str | None:
        value = cast("str | None", self._typed(key, str))
        if value is not None and not value.strip():
            self.wrong(key, "course.content.empty")
        return value

    def string(self, key: str, example: str = '"…"') -> str:
        value = self.maybe_string(key)
        return self.missing(key, example) if value is None else value

    def choice(self, key: str, known: Collection[str], default: str | None = None) -> str:
        value = self.maybe_string(key)
        if value is None:
            if default is None:
                self.missing(key, told("course.content.example-choice", known=list(known)))
            return default
        return self.one_of(key, value, known)

    def one_of(self, key: str, value: str, known: Collection[str]) -> str:
        if value not in known:
            self.wrong(key, "course.content.not-known", value=value, known=list(known))
        return value

    def maybe_number(
        self, key: str, least: float = float("-inf"), most: float = float("inf")
    ) -> float | None:
        value = self._typed(key, float)
        return None if value is None else float(self._between(key, value, least, most))

    def number(self, key: str, least: float = float("-inf"), most: float = float("inf")) -> float:
        value = self.maybe_number(key, least, most)
        return self.missing(key, "1.0") if value is None else value

    def integer(self, key: str, least: int, most: int, default: int | None = None) -> int:
        value = self._typed(key, int)
        if value is None:
            return self.missing(key, str(least)) if default is None else default
        return self._between(key, value, least, most)

    def _between(self, key: str, value: Any, least: float, most: float) -> Any:
        if not least <= value <= most:
            wanted = told("course.content.from-to", least=least, most=most)
            if most == float("inf"):
                wanted = told("course.content.at-least", least=least)
            elif least == float("-inf"):
                wanted = told("course.content.at-most", most=most)
            self.wrong(key, "course.content.out-of-range", value=value, range=wanted)
        return value

    def flag(self, key: str) -> bool:
        """True or false; false where the key is left out."""
        return bool(self._typed(key, bool))

    def strings(self, key: str) -> tuple[str, ...]:
        """A list of texts, empty where there is none."""
        values = cast("list[Any]", self._typed(key, list) or [])
        for number, value in enumerate(values, 1):
            if not isinstance(value, str) or not value.strip():
                self.wrong(f"{key}[{number}]", "course.content.not-a-text", value=_show(value))
        if len(set(values)) < len(values):
            twice = next(each for each in values if values.count(each) > 1)
            self.wrong(key, "course.content.twice", name=twice)
        return tuple(values)

    # ---- Both languages ----------------------------------------------------------------------------

    def maybe_text(self, key: str) -> Text | None:
        return self.text(key) if key in self.values else self.raw(key)

    def text(self, key: str, *, one_for_both: bool = False) -> Text:
        value = self.raw(key)
        if value is None:
            self.missing(f"{key}.en", told("course.content.example-both", key=key))
        if one_for_both and isinstance(value, str) and value.strip():
            return Text(value, value)
        if not isinstance(value, dict):
            self.wrong(key, "course.content.both-languages", value=_show(value), key=key)
        table = Table(cast("dict[str, Any]", value), self.file, self.key(key) or "")
        text = table.own_text()
        table.done()
        return text

    def own_text(self) -> Text:
        """The keys `en` and `zh` of this table itself."""
        return Text(*(self.string(lang) for lang in LANGUAGES))

    def texts(self, key: str) -> Texts:
        """Lists of both languages, empty where there are none."""
        value = self._typed(key, dict)
        if value is None:
            return Texts()
        table = Table(value, self.file, self.key(key) or "")
        for lang in LANGUAGES:
            if lang not in table:
                table.missing(lang, '["…"]')
        lists = Texts(*(table._sentences(lang) for lang in LANGUAGES))
        if len(lists.en) != len(lists.zh):
            self.wrong(key, "course.content.other-lengths", english=len(lists.en), chinese=len(lists.zh))
        table.done()
        return lists

    def _sentences(self, key: str) -> tuple[str, ...]:
        """As `strings`, but two may be the same: options of a question in one language can be."""
        values = cast("list[Any]", self._typed(key, list) or [])
        for number, value in enumerate(values, 1):
            if not isinstance(value, str) or not value.strip():
                self.wrong(f"{key}[{number}]", "course.content.not-a-text", value=_show(value))
        return tuple(values)

    # ---- Tables within -----------------------------------------------------------------------------

    @contextlib.contextmanager
    def table(self, key: str) -> Generator[Table]:
        """The table of that key, empty where there is none."""
        table = Table(self._typed(key, dict) or {}, self.file, self.key(key) or "")
        yield table
        table.done()

    def tables(self, key: str) -> Iterator[Table]:
        """Each table of a list; when the next is taken, the last one must be read."""
        values = cast("list[Any]", self._typed(key, list) or [])
        for number, value in enumerate(values, 1):
            if not isinstance(value, dict):
                self.wrong(f"{key}[{number}]", "course.content.not-a-table", value=_show(value), key=key)
            table = Table(cast("dict[str, Any]", value), self.file, self.key(f"{key}[{number}]") or "")
            yield table
            table.done()

    def named_tables(self, key: str) -> Iterator[tuple[str, Table]]:
        """The tables of a table, with their names."""
        values = cast("dict[str, Any]", self._typed(key, dict) or {})
        for name, value in values.items():
            if not isinstance(value, dict):
                self.wrong(f"{key}.{name}", "course.content.not-an-inline-table", value=_show(value))
            table = Table(cast("dict[str, Any]", value), self.file, self.key(f"{key}.{name}") or "")
            yield name, table
            table.done()

    def items(self, key: str) -> Iterator[tuple[str, Any]]:
        """The entries of a table, as TOML has them."""
        yield from cast("dict[str, Any]", self._typed(key, dict) or {}).items()


def check_slug(table: Table, key: str, name: str) -> str:
    """A name that is a folder, a part of a path, or an identifier: lower case, digits, hyphens."""
    if not re.fullmatch(r"[a-z0-9]+(?:[-_][a-z0-9]+)*", name):
        table.wrong(key, "course.content.not-a-slug", name=name)
    return name


def _show(value: Any) -> Message | str:
    if isinstance(value, dict | list):
        return _TYPES[dict if isinstance(value, dict) else list]
    if value == "":
        return told("course.content.an-empty-text")
    return repr(value) if not isinstance(value, bool) else str(value).lower()
