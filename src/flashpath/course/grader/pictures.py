"""Where an output differs, as a small picture of marks, and the pattern's name if it has one."""

from __future__ import annotations

import numpy as np

from flashpath.course.grader.dtypes import Array
from flashpath.course.grader.verdict import Line
from flashpath.messages import Message, Text, told

COLUMNS = 64
_MOST_ROWS = 16
_MOST_LINES = 8  # of one dimension
_RIGHT, _WRONG = "·", "✗"
_PERIODS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


# ---- The picture ---------------------------------------------------------------------------------------


def picture(wrong: Array) -> list[Line]:
    """Rows of marks, one for an element, or for several where they would be too many."""
    if wrong.size < 2:
        return []
    grid, (high, wide) = _grid(wrong)
    rows = ["".join(_WRONG if cell else _RIGHT for cell in row) for row in grid]
    if wrong.ndim < 2 and len(rows) > 1:  # one dimension, several lines: the last one may be shorter
        rows[-1] = rows[-1][: len(rows[-1]) - _padding(wrong.size, wide)]
    legend = (
        told("course.grader.mark-one")
        if high * wide == 1
        else told("course.grader.mark-several", high=high, wide=wide)
    )
    if wrong.ndim < 2 and high * wide > 1:
        legend = told("course.grader.mark-run", wide=wide)
    return [*rows, legend]


def _padding(size: int, wide: int) -> int:
    return -(-size // wide) % -COLUMNS * -1


def _grid(wrong: Array) -> tuple[Array, tuple[int, int]]:
    """At most _MOST_ROWS × COLUMNS cells, and how many elements each stands for, downwards and across."""
    if wrong.ndim >= 2:
        flat = wrong.reshape(-1, wrong.shape[-1])
        high, wide = _group(flat.shape[0], _MOST_ROWS), _group(flat.shape[1], COLUMNS)
        return _any_of(flat, high, wide), (high, wide)
    line = wrong.reshape(-1)
    wide = _group(line.size, _MOST_LINES * COLUMNS)
    cells = _any_of(line.reshape(1, -1), 1, wide).reshape(-1)
    if cells.size <= COLUMNS:
        return cells.reshape(1, -1), (1, wide)
    padded = np.zeros(-(-cells.size // COLUMNS) * COLUMNS, bool)
    padded[: cells.size] = cells
    return padded.reshape(-1, COLUMNS), (1, wide)


def _group(size: int, most: int) -> int:
    """The least power of two of elements a mark, so that warps and blocks begin at a mark."""
    return 1 << max(-(-size // most) - 1, 0).bit_length()


def _any_of(flat: Array, high: int, wide: int) -> Array:
    """Cells of high × wide elements, True where any of them is."""
    rows, columns = -(-flat.shape[0] // high), -(-flat.shape[1] // wide)
    padded = np.zeros((rows * high, columns * wide), bool)
    padded[: flat.shape[0], : flat.shape[1]] = flat
    return np.asarray(padded.reshape(rows, high, columns, wide).any(axis=(1, 3)))


# ---- The pattern ---------------------------------------------------------------------------------------


def pattern(wrong: Array) -> Message | None:
    """The pattern in words: all, the last 7 of 1000, every 32nd, only row 0 …; None where there is none."""
    if not wrong.any():
        return None
    if wrong.all():
        return (
            told("course.grader.pattern-only-one")
            if wrong.size == 1
            else told("course.grader.pattern-all", n=wrong.size)
        )
    if wrong.ndim < 2:
        return _of_line(wrong.reshape(-1), "element")
    flat = wrong.reshape(-1, wrong.shape[-1])
    if (flat == flat[:, :1]).all():
        return _of_line(flat[:, 0], "row")
    if (flat == flat[:1]).all():
        return _of_line(flat[0], "column")
    return _of_square(flat) or _of_line(flat.reshape(-1), "element")


def _of_line(line: Array, what: str) -> Message | None:
    """The pattern of a line of elements, rows or columns."""
    n = line.size
    at = np.flatnonzero(line)
    noun, nouns = _NOUNS[what]
    if at.size == 1:
        return told("course.grader.pattern-only", noun=noun, i=int(at[0]), n=n)
    first, last = int(at[0]), int(at[-1])
    if last - first + 1 == at.size:
        if first == 0:
            return told("course.grader.pattern-first", count=int(at.size), n=n, nouns=nouns)
        if last == n - 1:
            return told("course.grader.pattern-last", count=int(at.size), n=n, nouns=nouns)
        return told("course.grader.pattern-range", first=first, last=last, n=n, nouns=nouns)
    right = np.flatnonzero(~line)
    if right.size == 1:
        return told("course.grader.pattern-all-but", noun=noun, i=int(right[0]), n=n)
    steps = np.diff(at)
    if at.size >= 3 and (steps == steps[0]).all():
        return told("course.grader.pattern-every", step=_ordinal(int(steps[0])), first=first, nouns=nouns)
    return _periodic(line, nouns)


_NOUNS = {
    "element": (told("course.grader.noun-element"), told("course.grader.nouns-element")),
    "row": (told("course.grader.noun-row"), told("course.grader.nouns-row")),
    "column": (told("course.grader.noun-column"), told("course.grader.nouns-column")),
}


def _ordinal(step: int) -> Text:
    """Returns 32nd in English, and the number alone in Chinese."""
    ending = "th" if step % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(step % 10, "th")
    return Text("second" if step == 2 else f"{step}{ending}", str(step))


def _periodic(line: Array, nouns: Message) -> Message | None:
    """The same places in every group of 2, 4, 8 … that differ, in one run."""
    n = line.size
    for period in _PERIODS:
        if 2 * period > n:
            return None
        if not (line[period:] == line[:-period]).all():
            continue
        at = np.flatnonzero(line[:period])
        if at[-1] - at[0] + 1 == at.size:
            first, last = int(at[0]), int(at[-1])
            return told("course.grader.pattern-period", period=period, first=first, last=last, nouns=nouns)
        return None
    return None


def _of_square(flat: Array) -> Message | None:
    """The diagonal and the triangles."""
    rows, columns = np.indices(flat.shape)
    for code, mask in (
        ("course.grader.pattern-diagonal", rows == columns),
        ("course.grader.pattern-off-diagonal", rows != columns),
        ("course.grader.pattern-above", columns > rows),
        ("course.grader.pattern-from-diagonal-up", columns >= rows),
        ("course.grader.pattern-below", columns < rows),
        ("course.grader.pattern-from-diagonal-down", columns <= rows),
    ):
        if (flat == mask).all():
            return told(code)
    return None
