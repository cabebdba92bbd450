"""Marks of where it differs, and patterns that have a name."""

from __future__ import annotations

import numpy as np
import pytest

from flashpath.course.grader.dtypes import Array
from flashpath.course.grader.pictures import COLUMNS, pattern, picture
from flashpath.messages import Message


def _line(n: int, *wrong: int | slice) -> Array:
    mask = np.zeros(n, bool)
    for each in wrong:
        mask[each] = True
    return mask


def _words(message: Message | None) -> str | None:
    return None if message is None else message.text("en")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (_line(1000, slice(None)), "all 1000"),
        (_line(1000, slice(-7, None)), "the last 7 of 1000 elements"),
        (_line(1000, slice(0, 32)), "the first 32 of 1000 elements"),
        (_line(1000, slice(10, 20)), "elements 10 to 19 of 1000"),
        (_line(1000, 5), "only element 5 of 1000"),
        (_line(1000, slice(0, None, 32)), "every 32nd of the elements, from 0 on"),
        (_line(1000, slice(1, None, 2)), "every second of the elements, from 1 on"),
        (_line(1000, slice(3, None, 11)), "every 11th of the elements, from 3 on"),
        (~_line(256, slice(0, None, 32)), "in every 32 elements: 1 to 31"),
        (~_line(256, 17), "all but element 17 of 256"),
        (_line(7, 0, 2, 3, 6), None),
    ],
)
def test_patterns_of_a_line(wrong: Array, words: str | None) -> None:
    assert _words(pattern(wrong)) == words
    assert (pattern(wrong) is None) == (words is None)


row, column = np.indices((9, 12))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (row == 0, "only row 0 of 9"),
        (column == 3, "only column 3 of 12"),
        (column >= 10, "the last 2 of 12 columns"),
        (row >= 8, "only row 8 of 9"),
        (row % 2 == 0, "every second of the rows, from 0 on"),
        (row == column, "only the diagonal"),
        (row != column, "all but the diagonal"),
        (column > row, "above the diagonal"),
        (column <= row, "the diagonal and below it"),
        ((row == 2) & (column == 5), "only element 29 of 108"),
    ],
)
def test_patterns_of_a_matrix(wrong: Array, words: str) -> None:
    assert _words(pattern(wrong)) == words


@pytest.mark.parametrize(
    "shape", [(2,), (64,), (65,), (100,), (513,), (5000,), (3, 4), (16, 64), (17, 65), (4, 5, 700)]
)
def test_pictures_are_small(shape: tuple[int, ...]) -> None:
    wrong = np.zeros(shape, bool)
    wrong.reshape(-1)[-1] = True
    *rows, legend = picture(wrong)
    assert "mark" in str(legend)
    assert len(rows) <= 16
    assert all(1 <= len(row) <= COLUMNS for row in rows)
    assert rows[-1][-1] == "✗"
    assert "".join(rows).count("✗") == 1


def test_a_mark_stands_for_a_power_of_two() -> None:
    *rows, legend = picture(_line(5000, 0))
    assert "16 elements" in str(legend)
    assert sum(map(len, rows)) == 313  # 5000 / 16


def test_one_element_needs_no_picture() -> None:
    assert picture(np.ones(1, bool)) == []
    assert picture(np.ones(0, bool)) == []
