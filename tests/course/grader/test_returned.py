"""What functions return, beside whole numbers and truth values that are expected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from flashpath.course.grader.cases import Case
from flashpath.course.grader.compare import Expected
from flashpath.course.grader.returned import judge_value
from flashpath.course.grader.verdict import Failure

CASE = Case({"n": 1}, "normal", {}, {}, 0, 1)


def _judged(expected: Any, got: Any) -> Failure | None:
    value = np.asarray(expected)
    return judge_value(CASE, Expected("count", value, value.dtype, None), np.asarray(got))


@pytest.mark.parametrize(
    ("expected", "got"),
    [
        (np.int64(4), 4.0),
        (np.int64(4), np.uint8(4)),
        (np.int64(4), np.float16(4)),
        (np.uint64(2**63 + 1), np.uint64(2**63 + 1)),
        (np.array([1, -2], np.int32), np.array([1, -2])),
        (np.bool_(True), 1.0),
        (np.array([True, False]), np.array([True, False])),
    ],
)
def test_any_type_that_holds_the_number_will_do(expected: Any, got: Any) -> None:
    assert _judged(expected, got) is None


@pytest.mark.parametrize(
    ("expected", "got", "words"),
    [
        (np.int64(4), np.bool_(True), "count is bool, expected int64"),
        (np.int64(1), np.bool_(True), "count is bool, expected int64"),
        (np.int64(260), np.uint8(4), "count is 4, expected 260"),
        (np.int64(2**32 + 1), np.int32(1), "count is 1, expected 4294967297"),
        (np.uint64(2**64 - 1), np.int64(-1), "count is -1, expected 18446744073709551615"),
        (np.int64(4), 4.5, "count is 4.5, which is no whole number; expected 4"),
        (np.int64(4), float("nan"), "count is nan, which is no whole number; expected 4"),
        (np.array([4, 5]), np.array([4, np.inf]), "count[1] is inf, which is no whole number; expected 5"),
        (np.bool_(True), np.int64(2), "count is 2, expected 1"),
    ],
)
def test_what_is_no_such_number_is_said(expected: Any, got: Any, words: str) -> None:
    failure = _judged(expected, got)
    assert failure is not None
    assert failure.reason == "wrong"
    assert words in str(failure.headline)
