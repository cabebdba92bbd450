"""What a function returned beside what is expected: compared in a type that holds both, never in a narrower
one.

Any type will do for a count or an index as long as it holds the number itself: a whole float is one. A truth
value is none, and a number wider than the type that it came in cannot be right by wrapping around.
"""

from __future__ import annotations

import numpy as np

from flashpath.course.grader.cases import Case
from flashpath.course.grader.compare import Expected, compare
from flashpath.course.grader.describe import index_of, number, wrong_output
from flashpath.course.grader.dtypes import Array, is_float
from flashpath.course.grader.verdict import Failure
from flashpath.messages import Message, told


def judge_value(case: Case, truth: Expected, got: Array) -> Failure | None:
    """One value that a function returned; None where it is right."""
    said = case.said
    if got.shape != truth.value.shape:
        shapes = {"got": str(got.shape), "expected": str(truth.value.shape)}
        return Failure("wrong", told("course.grader.wrong-shape", name=truth.name, case=said, **shapes))
    wants_truth_value = truth.dtype == np.bool_
    is_number = got.dtype.kind in "iu" or is_float(got.dtype)
    if not is_number and not (got.dtype == np.bool_ and wants_truth_value):
        types = {"got": str(got.dtype), "expected": str(truth.dtype)}
        return Failure("wrong", told("course.grader.wrong-type", name=truth.name, case=said, **types))
    if truth.allowed is None and is_float(got.dtype):
        failure = _not_whole(truth, got, said)
        if failure is not None:
            return failure
        got = _whole(got)
    if wants_truth_value and got.dtype != np.bool_:  # 0 and 1 are two; 2 is neither
        got, truth = got.astype(np.int64), Expected(truth.name, truth.value.astype(np.int64), _INT64, None)
    # Integers of different types are compared by value, also signed ones with unsigned ones.
    difference = compare(truth, got)
    return None if difference is None else wrong_output(difference, case)


_INT64 = np.dtype(np.int64)
_BEYOND = 2.0**63  # the first float that int64 does not hold


def _not_whole(truth: Expected, got: Array, said: Message) -> Failure | None:
    """A fraction, NaN or infinity where a whole number is expected: the first one is told."""
    numbers = got.astype(np.float64)
    bad = ~((np.rint(numbers) == numbers) & (np.abs(numbers) < _BEYOND))
    if not bad.any():
        return None
    at = tuple(int(each) for each in np.unravel_index(int(np.argmax(bad)), bad.shape))
    place = f"{truth.name}{index_of(at)}"
    shown = {"name": place, "got": number(numbers[at]), "expected": number(truth.value[at]), "case": said}
    return Failure("wrong", told("course.grader.not-whole", **shown))


def _whole(got: Array) -> Array:
    return got.astype(np.float64).astype(np.int64)
