"""A module as words, and where those of each class stand: what a mutation looks for and changes."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

WORDS = re.compile(r"[%.\w]+|\s+|.", re.DOTALL)
TYPES = (
    "pred", "b1", "u2", "s4", "u4", "b8", "u8", "s8", "b16", "u16", "s16", "f16", "bf16", "b32", "u32", "s32",
    "f32", "f16x2", "bf16x2", "u16x2", "s16x2", "b64", "u64", "s64", "f64", "b128", "tf32", "e4m3", "e5m2x2",
)  # fmt: skip
TYPE = re.compile(rf"(?<=\.)(?:{'|'.join(TYPES)})(?!\w)")
_OPCODE = re.compile(r"[a-z][a-z0-9]*\.[\w.:]+$")
_REGISTER = re.compile(r"(%[a-zA-Z_]+)\d+$")
_SYSTEM_REGISTER = re.compile(r"%[a-zA-Z_]+")
_INSTRUCTION = re.compile(r"[a-z]\w*(\.[\w.:]+)?$")
_FUNCTION = re.compile(r"\.(?:func|entry)\s+(?:\([^)]*\)\s*)?(\w+)")
_POINTER = re.compile(r"\.param\s+\.[ub]64\s+(?:\.ptr[\w.\s]*\s)?(\w+)\s*[,)\n]")


@dataclass(frozen=True)
class Seed:
    """A module that is right, and the kernel of it to launch."""

    name: str
    ptx: str
    kernel: str


@functools.lru_cache(1 << 16)
def _classes(word: str) -> tuple[tuple[str, ...], str]:
    """Returns the classes that a word is of, and the one in which words can stand for each other."""
    if register := _REGISTER.match(word):
        return ("register",), register[1]
    if register := _SYSTEM_REGISTER.match(word):
        return (), register[0]
    if word.isdigit():
        return ("number",), "number"
    if "\n" in word:
        return ("line end",), ""
    classes = ("type",) if TYPE.search(word) else ()
    if _OPCODE.match(word):
        return (*classes, "opcode"), "opcode"
    return (*classes, "]") if word == "]" else classes, ""


class Draft:
    """The words of a module while it is changed. What stands where is found when it is asked for; each change
    makes that out of date."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._places: dict[str, list[int]] | None = None
        self._alike: dict[str, list[str]] | None = None

    @staticmethod
    @functools.lru_cache(256)
    def of_seed(ptx: str) -> Draft:
        """Returns the words of a seed, for reading: mutants begin with a `copy`."""
        return Draft(WORDS.findall(ptx))

    def copy(self) -> Draft:
        """Returns a draft that can be changed; what was found in this one still holds for it."""
        self.places("opcode")
        self.alike("opcode")
        made = Draft(self.words.copy())
        made._places, made._alike = self._places, self._alike
        return made

    @property
    def text(self) -> str:
        return "".join(self.words)

    # ---- What stands where ---------------------------------------------------------------------------

    def _look(self) -> tuple[dict[str, list[int]], dict[str, list[str]]]:
        places: dict[str, list[int]] = {"class": []}
        alike: dict[str, list[str]] = {}
        for k, word in enumerate(self.words):
            classes, stands_for = _classes(word)
            for name in classes:
                places.setdefault(name, []).append(k)
            if stands_for:
                places["class"].append(k)
                alike.setdefault(stands_for, []).append(word)
        self._places, self._alike = places, alike
        return places, alike

    def places(self, name: str) -> list[int]:
        """Returns where the words of a class stand: opcode, register, number, type, ], line end; by the name
        `class` those that others can stand for."""
        places = self._look()[0] if self._places is None else self._places
        return places.get(name, [])

    def alike(self, word: str) -> list[str]:
        """Returns the words here that could stand for this one."""
        alike = self._look()[1] if self._alike is None else self._alike
        return alike.get(_classes(word)[1], [])

    def lines(self) -> list[tuple[int, int]]:
        """Returns the lines, each by its first word and the one behind its last."""
        ends = [k + 1 for k in self.places("line end")]
        if not ends or ends[-1] < len(self.words):
            ends.append(len(self.words))
        return list(zip([0, *ends[:-1]], ends, strict=True))

    def ends(self) -> list[int]:
        """Returns the places behind the instructions that have a line to themselves."""
        found: list[int] = []
        for first, behind in self.lines():
            words = [word for word in self.words[first:behind] if not word.isspace()]
            if len(words) > 1 and words[-1] == ";" and _INSTRUCTION.match(words[0]) and "{" not in words[:2]:
                found.append(behind)
        return found

    def functions(self) -> list[str]:
        """Returns the names of the functions and kernels."""
        return _FUNCTION.findall(self.text)

    def pointers(self, at: int) -> list[str]:
        """Returns the names of the parameters that may be pointers, of the function around a place."""
        before = "".join(self.words[:at])
        heads = list(_FUNCTION.finditer(before))
        return _POINTER.findall(before[heads[-1].start() :]) if heads else []

    # ---- Changes -------------------------------------------------------------------------------------

    def put(self, first: int, behind: int, text: str) -> None:
        """Writes a text in the place of some words."""
        self.words[first:behind] = WORDS.findall(text)
        self._places = self._alike = None
