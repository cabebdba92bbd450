"""Where an output differs, as a small picture of marks, and the pattern's name if it has one."""

from __future__ import annotations

import numpy as np

from flashpath.course.grader.dtypes import Array
from flashpath.course.grader.texts import say

COLUMNS = 64
_MOST_ROWS = 16
_MOST_LINES = 8  # of one dimension
_RIGHT, _WRONG = "·", "✗"
_PERIODS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)


# ---- The picture ---------------------------------------------------------------------------------------


def picture(wrong: Array, lang: str) -> list[str]:
    """Rows of marks, one for an element, or for several where they would be too many."""
    if wrong.size < 2:
        return []
    grid, (high, wide) = _grid(wrong)
    rows = ["".join(_WRONG if cell else _RIGHT for cell in row) for row in grid]
    if wrong.ndim < 2 and len(rows) > 1:  # one dimension, several lines: the last one may be shorter
        rows[-1] = rows[-1][: len(rows[-1]) - _padding(wrong.size, wide)]
    legend = say(lang, "mark-one") if high * wide == 1 else say(lang, "mark-several", high=high, wide=wide)
    if wrong.ndim < 2 and high * wide > 1:
        legend = say(lang, "mark-run", wide=wide)
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


def pattern(wrong: Array, lang: str) -> str | None:
    """The pattern in words: all, the last 7 of 1000, every 32nd, only row 0 …; None where there is none."""
    if not wrong.any():
        return None
    if wrong.all():
        return say(lang, "pattern-only-one") if wrong.size == 1 else say(lang, "pattern-all", n=wrong.size)
    if wrong.ndim < 2:
        return _of_line(wrong.reshape(-1), "element", lang)
    flat = wrong.reshape(-1, wrong.shape[-1])
    if (flat == flat[:, :1]).all():
        return _of_line(flat[:, 0], "row", lang)
    if (flat == flat[:1]).all():
        return _of_line(flat[0], "column", lang)
    return _of_square(flat, lang) or _of_line(flat.reshape(-1), "element", lang)


def _of_line(line: Array, what: str, lang: str) -> str | None:
    """The pattern of a line of elements, rows or columns."""
    n = line.size
    at = np.flatnonzero(line)
    noun = say(lang, f"noun-{what}")
    nouns = say(lang, f"nouns-{what}")
    if at.size == 1:
        return say(lang, "pattern-only", noun=noun, i=int(at[0]), n=n)
    first, last = int(at[0]), int(at[-1])
    if last - first + 1 == at.size:
        if first == 0:
            return say(lang, "pattern-first", count=at.size, n=n, nouns=nouns)
        if last == n - 1:
            return say(lang, "pattern-last", count=at.size, n=n, nouns=nouns)
        return say(lang, "pattern-range", first=first, last=last, n=n, nouns=nouns)
    right = np.flatnonzero(~line)
    if right.size == 1:
        return say(lang, "pattern-all-but", noun=noun, i=int(right[0]), n=n)
    steps = np.diff(at)
    if at.size >= 3 and (steps == steps[0]).all():
        return say(lang, "pattern-every", step=_ordinal(int(steps[0]), lang), first=first, nouns=nouns)
    return _periodic(line, nouns, lang)


def _ordinal(step: int, lang: str) -> str:
    """32nd, in English; the number, in Chinese."""
    if lang != "en":
        return str(step)
    ending = "th" if step % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(step % 10, "th")
    return "second" if step == 2 else f"{step}{ending}"


def _periodic(line: Array, nouns: str, lang: str) -> str | None:
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
            return say(lang, "pattern-period", period=period, first=first, last=last, nouns=nouns)
        return None
    return None


def _of_square(flat: Array, lang: str) -> str | None:
    """The diagonal and the triangles."""
    rows, columns = np.indices(flat.shape)
    for key, mask in (
        ("pattern-diagonal", rows == columns),
        ("pattern-off-diagonal", rows != columns),
        ("pattern-above", columns > rows),
        ("pattern-from-diagonal-up", columns >= rows),
        ("pattern-below", columns < rows),
        ("pattern-from-diagonal-down", columns <= rows),
    ):
        if (flat == mask).all():
            return say(lang, key)
    return None
