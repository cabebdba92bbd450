"""PTX modules that are not what they should be: made from real ones, each by a number, always the same."""

from __future__ import annotations

import random
from dataclasses import dataclass

from forms import drawn_form, in_scope, made_module
from hostile import HOSTILE, Change
from words import Draft, Seed

_NUMBERS = (
    "0", "-1", "1", "7", "31", "32", "33", "65535", "2147483648", "9223372036854775807",
    "9223372036854775808", "0f7FC00000",
)  # fmt: skip
_SUFFIXES = (".u32", ".s64", ".f16", ".f32", ".v2", ".v4", ".sync", ".uni", ".sat", ".ftz", ".volatile", "x")


@dataclass(frozen=True)
class Mutant:
    """A module that most likely is not right, and how it is launched."""

    ptx: str
    kernel: str
    origin: str
    launch: int
    """From which all is drawn that its launch has: its shape, its data and its options."""


def _any_word(draft: Draft, choose: random.Random) -> int:
    return choose.randrange(len(draft.words))


def _swap_words(draft: Draft, other: Draft, choose: random.Random) -> None:
    a, b = _any_word(draft, choose), _any_word(draft, choose)
    first, second = draft.words[a], draft.words[b]
    draft.put(a, a + 1, second)
    draft.put(b, b + 1, first)


def _drop_word(draft: Draft, other: Draft, choose: random.Random) -> None:
    at = _any_word(draft, choose)
    draft.put(at, at + 1, "")


def _copy_word(draft: Draft, other: Draft, choose: random.Random) -> None:
    at = _any_word(draft, choose)
    draft.put(at, at + 1, choose.choice(draft.words))


def _take_word_from_another(draft: Draft, other: Draft, choose: random.Random) -> None:
    at = _any_word(draft, choose)
    draft.put(at, at + 1, choose.choice(other.words))


def _copy_alike(draft: Draft, other: Draft, choose: random.Random) -> None:
    """Another register of its kind, another opcode, another number: most of these are run."""
    places = draft.places("class")
    if places:
        at = choose.choice(places)
        word = draft.words[at]
        is_register = word.startswith("%")  # those of another module are not declared here
        source = draft if is_register else choose.choice((draft, draft, other))
        draft.put(at, at + 1, choose.choice(source.alike(word) or draft.alike(word)))


def _write_number(draft: Draft, other: Draft, choose: random.Random) -> None:
    if places := draft.places("number"):
        at = choose.choice(places)
        draft.put(at, at + 1, choose.choice(_NUMBERS))


def _add_suffix(draft: Draft, other: Draft, choose: random.Random) -> None:
    at = _any_word(draft, choose)
    draft.put(at, at + 1, draft.words[at] + choose.choice(_SUFFIXES))


def _change_character(draft: Draft, other: Draft, choose: random.Random) -> None:
    at = _any_word(draft, choose)
    word = draft.words[at]
    k = choose.randrange(len(word))
    character = choose.choice((chr(choose.randrange(1, 127)), chr(choose.randrange(1, 127)), *"\x80é线🙂"))
    draft.put(at, at + 1, word[:k] + character + word[k + 1 :])


def _line(draft: Draft, choose: random.Random) -> tuple[int, int]:
    return choose.choice(draft.lines())


def _text_of(draft: Draft, line: tuple[int, int]) -> str:
    return "".join(draft.words[slice(*line)])


def _swap_lines(draft: Draft, other: Draft, choose: random.Random) -> None:
    a, b = sorted((_line(draft, choose), _line(draft, choose)))
    if a != b:
        middle = "".join(draft.words[a[1] : b[0]])
        draft.put(a[0], b[1], _text_of(draft, b) + middle + _text_of(draft, a))


def _drop_line(draft: Draft, other: Draft, choose: random.Random) -> None:
    draft.put(*_line(draft, choose), "")


def _repeat_line(draft: Draft, other: Draft, choose: random.Random) -> None:
    at = _line(draft, choose)[0]
    draft.put(at, at, _text_of(draft, _line(draft, choose)))


def _take_line_from_another(draft: Draft, other: Draft, choose: random.Random) -> None:
    at = _line(draft, choose)[0]
    draft.put(at, at, _text_of(other, _line(other, choose)))


def _add_form(draft: Draft, other: Draft, choose: random.Random) -> None:
    """An instruction as it should be, with registers of its own."""
    if ends := draft.ends():
        at = choose.choice(ends)
        draft.put(at, at, in_scope(drawn_form(choose, choose.randrange(100, 1 << 20)), draft.pointers(at)))


CHANGES: tuple[Change, ...] = (
    *HOSTILE,
    *(
        _copy_alike for _ in range(12)
    ),  # of these and the next most are run; the others mostly end in the parser
    *(_add_form for _ in range(6)),
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
    """The mutant of that number: a real module, or one made of forms, changed in up to four places."""
    choose = random.Random(number)
    is_made = choose.random() < 0.6
    seed = made_module(number) if is_made else choose.choice(seeds)
    other = Draft.of_seed(choose.choice(seeds).ptx)
    draft = Draft.of_seed(seed.ptx).copy()
    # Most of a module is its head and its declarations only once: changes anywhere are equally likely.
    for _ in range(choose.choice((0, 1, 1, 2) if is_made else (1, 1, 1, 2, 4))):
        choose.choice(CHANGES)(draft, other, choose)
        if not draft.words:
            draft.put(0, 0, " ")
    return Mutant(draft.text, seed.kernel, seed.name, launch=choose.randrange(1 << 32))
