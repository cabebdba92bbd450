"""What flashpath says, as data: a code with parameters, turned into a sentence where somebody reads it.

Each room keeps its sentences in a catalogue, `<room>/messages.py`, under `MESSAGES`: a key and its `Text` in
both languages, or an `Entry` where advice follows. The code `jit.no-such-kernel` stands for the key
`no-such-kernel` in `flashpath/jit/messages.py`.

    raise FlashpathError("jit.no-such-kernel", name="saxpy", known=["axpy"])  # travels as data
    say("cli.learning.grade-next", exercise="first-kernel/copy")              # a sentence, at the edge

A template is a format string. `{count:~thread}` is "1 thread" or "5 threads" (`~entry/entries` where the
plural is another word), `{count:?is/are}` the word alone. A list is joined by the comma of the language; a
parameter that is itself a `Message` or a `Text` is said in the same language.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import string
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from typing import Any, Literal, cast

LANGUAGES = ("en", "zh")
Reader = Literal["caller", "learner", "command"]
_COMMAS = {"en": ", ", "zh": "、"}
_spoken: ContextVar[str | None] = ContextVar("spoken", default=None)


@dataclass(frozen=True, slots=True)
class Text:
    """One text in both languages."""

    en: str
    zh: str

    def in_(self, lang: str) -> str:
        """Returns the text in that language."""
        return self.zh if lang == "zh" else self.en


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence with what to do about it; other readers' wordings stand beside it where they differ.

    Who calls the library can change the call, who answers an exercise the answer alone, and who types a
    command its options.
    """

    says: Text
    fix: Text | None = None
    learner: Text | None = None
    learner_fix: Text | None = None
    command: Text | None = None
    command_fix: Text | None = None

    def says_to(self, reader: Reader) -> Text:
        """Returns the sentence in a reader's wording."""
        own = {"learner": self.learner, "command": self.command}.get(reader)
        return own or self.says

    def fix_for(self, reader: Reader) -> Text | None:
        """Returns what that reader can do about it."""
        own = {"learner": self.learner_fix, "command": self.command_fix}.get(reader)
        return own or self.fix


@dataclass(frozen=True)
class Message:
    """A code and its parameters: texts, numbers, lists of them, and other messages."""

    code: str
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def text(self, lang: str | None = None, reader: Reader = "caller") -> str:
        """Returns the sentence, in the language that is spoken where none is named."""
        return self._filled(_entry(self.code).says_to(reader), lang, reader)

    def fix(self, lang: str | None = None, reader: Reader = "caller") -> str | None:
        """Returns what to do about it; None where there is no advice."""
        chosen = _entry(self.code).fix_for(reader)
        return None if chosen is None else self._filled(chosen, lang, reader) or None

    def __str__(self) -> str:
        return self.text()

    def _filled(self, text: Text, lang: str | None, reader: Reader) -> str:
        lang = lang or spoken()
        return _Template(lang, reader).vformat(text.in_(lang), (), self.params)

    # ---- Between processes -----------------------------------------------------------------------------

    def as_data(self) -> dict[str, Any]:
        """Returns plain data, ready for `json.dumps`."""
        return {"code": self.code, "params": {name: _as_data(value) for name, value in self.params.items()}}

    @staticmethod
    def from_data(data: object) -> Message:
        """Reads what `as_data` wrote; whatever else somebody sends raises ValueError."""
        given = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
        code, params = given.get("code"), given.get("params")
        if not isinstance(code, str) or not isinstance(params, dict):
            raise ValueError("this is not a message")
        named = cast("dict[str, Any]", params)
        try:
            missing = _parameters_of(code) - named.keys()
        except (LookupError, ImportError) as error:
            raise ValueError(f"{code!r} is not a message: {error}") from None
        if missing:
            raise ValueError(
                f"{code!r} with these parameters is not a message: {sorted(missing)} are missing"
            )
        return Message(code, {name: _from_data(value) for name, value in named.items()})


def say(code: str, /, **params: Any) -> str:
    """Returns the sentence of that code in the language that is spoken here."""
    return Message(code, params).text()


def told(code: str, /, **params: Any) -> Message:
    """Returns the message of that code, to be said later, where somebody reads it."""
    return Message(code, params)


def any_of(names: Sequence[str]) -> Message | str:
    """Returns the names as a choice, "a or b", in the language of whoever reads it."""
    first, *rest = names
    return Message("messages.either", {"one": first, "other": any_of(rest)}) if rest else first


def did_you_mean(name: str, known: Iterable[str], *, near: float = 0.5, most: int = 16) -> str:
    """Returns advice on a name that nobody knows: names like it, or all where they are at most `most`."""
    names = list(known)
    like = difflib.get_close_matches(name, names, cutoff=near) or [
        other for other in names if name and name in other
    ]
    if like:
        return say("messages.did-you-mean", names=say("messages.or").join(like[:3]))
    return say("messages.there-are", count=len(names), names=names) if 0 < len(names) <= most else ""


# ---- The language ----------------------------------------------------------------------------------------


def spoken() -> str:
    """The language that is spoken now: the command's, else the one that the settings name."""
    lang = _spoken.get()
    if lang is not None:
        return lang
    from flashpath import settings  # settings raise errors, and errors are messages

    return settings.language_or_english()


@contextlib.contextmanager
def speaking(lang: str) -> Generator[None]:
    """Within it, everything is said in that language; so is a FlashpathError that ends it."""
    token = _spoken.set(lang)
    try:
        yield
    except Exception as error:
        if getattr(error, "lang", lang) is None:
            vars(error)["lang"] = lang
        raise
    finally:
        _spoken.reset(token)


# ---- Catalogues ------------------------------------------------------------------------------------------


@functools.cache
def catalogue(room: str) -> Mapping[str, Text | Entry]:
    """The messages of a room, such as `course.grader`."""
    return importlib.import_module(f"flashpath.{room}.messages").MESSAGES


@functools.lru_cache(maxsize=4096)
def _entry(code: str) -> Entry:
    room, _, key = code.rpartition(".")
    found = catalogue(room)[key]
    return Entry(found) if isinstance(found, Text) else found


@functools.lru_cache(maxsize=4096)
def _parameters_of(code: str) -> frozenset[str]:
    """The parameters that are named to some reader; both languages name the same ones."""
    entry = _entry(code)
    texts = [cast("Text | None", getattr(entry, each.name)) for each in fields(entry)]
    parse = string.Formatter().parse
    return frozenset(name for text in texts if text for _, name, _, _ in parse(text.en) if name)


class _Template(string.Formatter):
    """Fills a template in one language."""

    def __init__(self, lang: str, reader: Reader) -> None:
        self._lang = lang
        self._reader: Reader = reader

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, Message):
            return value.text(self._lang, self._reader)
        if isinstance(value, Text):
            return value.in_(self._lang)
        if isinstance(value, list | tuple):
            parts = cast("Sequence[Any]", value)
            return _COMMAS[self._lang].join(self.format_field(part, format_spec) for part in parts)
        if format_spec[:1] in ("~", "?"):
            return _counted(value, format_spec)
        try:
            return super().format_field(value, format_spec)
        except (ValueError, TypeError, OverflowError):  # not a number that it can write so came
            return str(value)


def _counted(value: Any, spec: str) -> str:
    one, _, many = spec[1:].partition("/")
    word = one if value == 1 else (many or f"{one}s")
    return word if spec[0] == "?" else f"{value:,} {word}" if isinstance(value, int) else f"{value} {word}"


def _as_data(value: Any) -> Any:
    if isinstance(value, Message):
        return {"message": value.as_data()}
    if isinstance(value, Text):
        return {"en": value.en, "zh": value.zh}
    if isinstance(value, list | tuple):
        return [_as_data(part) for part in cast("Sequence[Any]", value)]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _from_data(value: Any) -> Any:
    match value:
        case {"message": data}:
            return Message.from_data(data)
        case {"en": str(en), "zh": str(zh)}:
            return Text(en, zh)
        case list():
            return [_from_data(part) for part in cast("list[Any]", value)]
        case None | str() | int() | float():
            return value
        case _:
            raise ValueError(f"{type(value).__name__} is not a parameter of a message")
