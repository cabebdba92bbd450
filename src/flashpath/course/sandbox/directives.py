"""The preprocessor directives in a learner's CUDA C++ by which other files are read, or lines renamed.

A text is read as the preprocessor reads it: a backslash joins lines first, comments and form feeds are white
space, `%:` is `#`. Where compilers differ (trigraphs, blanks after a backslash) it is read in every way.
Whether a directive stands in a string, or in a branch that is skipped, is not asked: better one too
many than one too few. All of it takes time in proportion to the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Kind = Literal["include", "has_include", "line", "pragma", "condition"]

_JOINS = (re.compile(r"\\\r?\n"), re.compile(r"\\[^\S\n]*\n"))
_BLANKS = re.compile(r"[^\S\n]+")
_HASH = re.compile(r"#|%:")
_WORD = re.compile(r"[A-Za-z_]\w*|\d+")
_HAS = re.compile(r"\b__has_(?:include(?:_next)?|embed)\b")
_NAME = re.compile(r"\"([^\"\n]*)\"|<([^>\n]*)>")
_REST = re.compile(r"[^\n]*")
_INCLUDES = ("include", "include_next", "import", "embed")


@dataclass(frozen=True)
class Directive:
    """What was found: `name` is the file (None where a macro names it), or the rest of the line."""

    kind: Kind
    word: str
    name: str | None
    line: int


def directives(text: str) -> Iterator[Directive]:
    """Every directive of those kinds, once for each way to read the text."""
    seen: set[str] = set()
    for read in (text, text.replace("??=", "#").replace("??/", "\\")):
        for join in _JOINS:
            pieces = join.split(read)
            joined = "".join(pieces)
            if joined not in seen:
                seen.add(joined)
                yield from _Reading(joined, pieces).found()


class _Reading:
    def __init__(self, text: str, pieces: list[str]) -> None:
        self._text = text
        self._ends_of_comments = [match.end() for match in re.finditer(r"\*/", text)]
        self._beginnings = [match.end() for match in re.finditer(r"[\n\r]|\A", text)]
        self._newlines = [match.start() for match in re.finditer(r"\n", text)]
        self._joints: list[int] = []  # where a line was joined to the next one
        at = 0
        for piece in pieces[:-1]:
            at += len(piece)
            self._joints.append(at)
        self._skipped: dict[int, int] = {}
        self._told: dict[str, int] = {}  # up to where the text was given as the rest of a line

    def found(self) -> Iterator[Directive]:
        text = self._text
        for match in _HASH.finditer(text):
            word = _WORD.match(text, self._after_blanks(match.end()))
            if word is None:
                continue
            at = self._after_blanks(word.end())
            if word[0] in _INCLUDES:
                name = self._name(at)
                # In the middle of a line it is none, unless what is before it is a comment's end.
                if name is not None or self._is_first(match.start()):
                    yield Directive("include", f"#{word[0]}", name, self._line(match.start()))
            elif not self._is_first(match.start()):
                continue
            elif word[0] == "line" or word[0].isdigit():
                word_shown = "#line" if word[0] == "line" else f"# {word[0]}"
                yield Directive("line", word_shown, None, self._line(match.start()))
            elif word[0] == "pragma":
                yield from self._with_rest("pragma", "#pragma", match.start(), at)
            elif word[0] in ("if", "elif"):
                yield from self._with_rest("condition", f"#{word[0]}", match.start(), at)
        for match in re.finditer(r"\b_Pragma\b", text):
            yield from self._with_rest("pragma", "_Pragma", match.start(), match.end())
        for match in _HAS.finditer(text):
            at = self._after_blanks(match.end())
            name = self._name(self._after_blanks(at + 1)) if text.startswith("(", at) else None
            yield Directive("has_include", match[0], name, self._line(match.start()))

    def _name(self, at: int) -> str | None:
        match = _NAME.match(self._text, at)
        return None if match is None else match[1] if match[1] is not None else match[2]

    def _with_rest(self, kind: Kind, word: str, begin: int, at: int) -> Iterator[Directive]:
        """With the rest of the line, for the first one of it: the others are in its rest."""
        if begin < self._told.get(word, 0):
            return
        match = _REST.match(self._text, at)
        assert match is not None
        self._told[word] = match.end()
        yield Directive(kind, word, match[0], self._line(begin))

    def _after_blanks(self, at: int) -> int:
        """Behind white space and comments. Remembered, so that no text is walked over twice."""
        passed: list[int] = []
        while at not in self._skipped:
            passed.append(at)
            blanks = _BLANKS.match(self._text, at)
            behind = blanks.end() if blanks else at
            if self._text.startswith("/*", behind):
                index = bisect_left(self._ends_of_comments, behind + 4)
                if index < len(self._ends_of_comments):
                    behind = self._ends_of_comments[index]
            if behind == at:
                self._skipped[at] = at
            at = behind
        end = self._skipped[at]
        for each in passed:
            self._skipped[each] = end
        return end

    def _is_first(self, at: int) -> bool:
        """Whether nothing but white space and comments is before it on its line."""
        begin = self._beginnings[bisect_right(self._beginnings, at) - 1]
        index = bisect_right(self._ends_of_comments, at) - 1
        if index >= 0 and self._ends_of_comments[index] > begin:
            begin = self._ends_of_comments[index]
        return self._after_blanks(begin) == at

    def _line(self, at: int) -> int:
        return bisect_left(self._newlines, at) + bisect_right(self._joints, at) + 1
