"""The corpus of wrong answers (tests/course/corpus): each is a solution with a few edits."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CORPUS = Path(__file__).parents[1] / "course" / "corpus"
_HEAD = re.compile(r'\A(?://.*\n)+|\A"""(?:.|\n)*?"""\n')  # what the solution says of itself


@dataclass(frozen=True)
class Answer:
    """One line of the corpus."""

    exercise: str
    hint: str
    edits: str

    def text(self, solution: str) -> str:
        """The solution with the edits, each of which must have its place in it."""
        solution = _HEAD.sub("", solution)
        places: list[tuple[int, str, str]] = []
        for edit in self.edits.split(" ;; "):
            old, arrow, new = (part.strip(" ") for part in _parts(edit))
            old, new = old.replace("\\n", "\n"), new.replace("\\n", "\n")
            count = solution.count(old)
            assert count == 1 or (count and arrow == "=>>"), f"{self}: {old!r} is there {count} times"
            start = -1
            for _ in range(count):
                start = solution.index(old, start + 1)
                places.append((start, old, new))
        parts, end = [""], 0
        for start, old, new in sorted(places):
            assert start >= end, f"{self}: edits overlap"
            parts += [solution[end:start], new]
            end = start + len(old)
        return "".join(parts) + solution[end:]


def _parts(edit: str) -> tuple[str, str, str]:
    arrow = "=>>" if "=>>" in edit else "=>"
    old, found, new = edit.partition(arrow)
    assert found, edit
    return old, arrow, new


def _answers() -> Iterator[Answer]:
    for file in sorted(CORPUS.glob("*.txt")):
        exercise = ""
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.startswith("== "):
                exercise = line.removeprefix("== ").strip()
            elif line.strip() and not line.startswith("#"):
                hint, _, edits = line.partition(" | ")
                yield Answer(exercise, hint.strip(), edits)


ANSWERS = tuple(_answers())
EXERCISES = tuple(dict.fromkeys(answer.exercise for answer in ANSWERS))
