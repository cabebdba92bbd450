"""PTX modules that are not what they should be: made from real ones, each by a number, always the same."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from hostile import HOSTILE, Change

_WORDS = re.compile(r"[%.\w]+|\s+|.", re.DOTALL)
_NUMBERS = (
    "0", "-1", "1", "7", "31", "32", "33", "65535", "2147483648", "9223372036854775807",
    "9223372036854775808", "0f7FC00000",
)  # fmt: skip
_SUFFIXES = (".u32", ".s64", ".f16", ".f32", ".v2", ".v4", ".sync", ".uni", ".sat", ".ftz", ".volatile", "x")


@dataclass(frozen=True)
class Seed:
    """A module that is right, and the kernel of it to launch."""

    name: str
    ptx: str
    kernel: str


@dataclass(frozen=True)
class Mutant:
    """A module that most likely is not, and how it is launched."""

    ptx: str
    kernel: str
    origin: str
    exact: bool
    count: bool
    sanitize: bool
    schedule: int


def _swap_words(words: list[str], other: list[str], choose: random.Random) -> None:
    a, b = choose.randrange(len(words)), choose.randrange(len(words))
    words[a], words[b] = words[b], words[a]


def _drop_word(words: list[str], other: list[str], choose: random.Random) -> None:
    words[choose.randrange(len(words))] = ""


def _copy_word(words: list[str], other: list[str], choose: random.Random) -> None:
    words[choose.randrange(len(words))] = choose.choice(words)


def _take_word_from_another(words: list[str], other: list[str], choose: random.Random) -> None:
    words[choose.randrange(len(words))] = choose.choice(other)


def _class_of(word: str) -> str:
    """Words of one class can stand for each other without an error of syntax, mostly."""
    if register := re.match(r"%[a-zA-Z_]+", word):
        return register[0]
    if word.isdigit():
        return "number"
    return "opcode" if re.match(r"[a-z][a-z0-9]*\.", word) else ""


def _copy_alike(words: list[str], other: list[str], choose: random.Random) -> None:
    """Another register of its kind, another opcode, another number: most of these are run."""
    at = choose.choice([k for k, word in enumerate(words) if _class_of(word)] or [0])
    source = choose.choice((words, words, other))
    words[at] = choose.choice([each for each in source if _class_of(each) == _class_of(words[at])] or words)


def _write_number(words: list[str], other: list[str], choose: random.Random) -> None:
    numeric = [k for k, word in enumerate(words) if word.isdigit()]
    if numeric:
        words[choose.choice(numeric)] = choose.choice(_NUMBERS)


def _add_suffix(words: list[str], other: list[str], choose: random.Random) -> None:
    words[choose.randrange(len(words))] += choose.choice(_SUFFIXES)


def _change_character(words: list[str], other: list[str], choose: random.Random) -> None:
    at = choose.randrange(len(words))
    if words[at]:
        k = choose.randrange(len(words[at]))
        words[at] = words[at][:k] + chr(choose.randrange(1, 127)) + words[at][k + 1 :]


def _lines(words: list[str]) -> list[str]:
    return "".join(words).splitlines(keepends=True)


def _swap_lines(words: list[str], other: list[str], choose: random.Random) -> None:
    lines = _lines(words)
    a, b = choose.randrange(len(lines)), choose.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    words[:] = lines


def _drop_line(words: list[str], other: list[str], choose: random.Random) -> None:
    lines = _lines(words)
    del lines[choose.randrange(len(lines))]
    words[:] = lines or [" "]


def _repeat_line(words: list[str], other: list[str], choose: random.Random) -> None:
    lines = _lines(words)
    lines.insert(choose.randrange(len(lines)), choose.choice(lines))
    words[:] = lines


def _take_line_from_another(words: list[str], other: list[str], choose: random.Random) -> None:
    lines = _lines(words)
    lines.insert(choose.randrange(len(lines)), choose.choice(_lines(other)))
    words[:] = lines


_CHANGES: tuple[Change, ...] = (
    *HOSTILE,
    *(_copy_alike for _ in range(12)),  # the others mostly end in the parser
    _swap_words,
    _drop_word,
    _copy_word,
    _take_word_from_another,
    _write_number,
    _add_suffix,
    _change_character,
    _swap_lines,
    _drop_line,
    _repeat_line,
    _take_line_from_another,
)


def mutant(seeds: list[Seed], number: int) -> Mutant:
    """The mutant of that number: one real module, changed in up to four places."""
    choose = random.Random(number)
    seed, other = choose.choice(seeds), choose.choice(seeds)
    words = _WORDS.findall(seed.ptx)
    # Most of a module is its head and its declarations only once: changes anywhere are equally likely.
    for _ in range(choose.choice((1, 1, 2, 4))):
        choose.choice(_CHANGES)(words, _WORDS.findall(other.ptx), choose)
        words = _WORDS.findall("".join(words)) or [" "]
    return Mutant(
        "".join(words),
        seed.kernel,
        seed.name,
        exact=choose.random() < 0.5,
        count=choose.random() < 0.3,
        sanitize=choose.random() < 0.5,
        schedule=choose.choice((0, 0, 1, choose.randrange(1 << 32))),
    )
