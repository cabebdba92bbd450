"""Cases: every combination, secret sizes, the cheapest first, and references in float64."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from flashpath.course.content import ArraySpec, CaseSpec, Course, Drawn, ScalarSpec, Tolerance
from flashpath.course.grader.cases import cases_of, fresh_seed
from flashpath.course.grader.compare import Expected, compare
from flashpath.course.grader.reference import expected_outputs
from flashpath.errors import FlashpathError


def test_every_combination_is_a_case(course: Course) -> None:
    exercise = replace(
        course.exercise("kinds/row-sums"),
        cases=(CaseSpec({"rows": (1, 2, 3), "n": (10, 0)}, ("normal", "shifted")),),
    )
    cases = cases_of(exercise, 1)
    assert len(cases) == 12
    assert {(each.sizes["rows"], each.sizes["n"], each.values) for each in cases} == {
        (rows, n, values) for rows in (1, 2, 3) for n in (10, 0) for values in ("normal", "shifted")
    }


def test_the_cheapest_come_first(course: Course) -> None:
    for name in ("axpy", "row-sums", "online"):
        elements = [case.elements for case in cases_of(course.exercise(f"kinds/{name}"), 4)]
        assert elements == sorted(elements)


def test_drawn_sizes_lie_between_their_bounds(course: Course) -> None:
    exercise = replace(course.exercise("kinds/axpy"), cases=(CaseSpec({"n": (Drawn(20, 30),)}, ("normal",)),))
    drawn = {cases_of(exercise, seed)[0].sizes["n"] for seed in range(200)}
    assert drawn == set(range(20, 31))


def test_nobody_knows_the_seed() -> None:
    assert len({fresh_seed() for _ in range(100)}) == 100
    assert max(fresh_seed() for _ in range(20)) > 2**100


def test_a_scalar_has_its_own_type_and_value(course: Course) -> None:
    exercise = replace(
        course.exercise("kinds/axpy"),
        scalars={"a": ScalarSpec("float16"), "b": ScalarSpec("int32", value="2 * n")},
    )
    case = cases_of(exercise, 1)[-1]
    assert case.scalars["a"].dtype == np.float16
    assert case.scalars["b"] == 2 * case.sizes["n"]


def test_an_array_may_follow_from_those_before_it(course: Course) -> None:
    exercise = replace(
        course.exercise("kinds/axpy"),
        arrays={
            "begin": ArraySpec("int32", ("n + 1",), values="starts", below="3 * n"),
            "ends": ArraySpec("int64", ("n",), value="begin[1:] + n"),
        },
    )
    case = cases_of(exercise, 1)[-1]
    assert case.inputs["ends"].dtype == np.int64
    assert (case.inputs["ends"] == case.inputs["begin"][1:] + case.sizes["n"]).all()


def test_a_case_is_told_by_the_numbers_that_a_function_gets(course: Course) -> None:
    """A size that only serves to draw an argument means nothing to who wrote the function."""
    exercise = replace(
        course.exercise("kinds/online"),
        scalars={
            "m": ScalarSpec("float64", value="drawn / 2"),
            "l": ScalarSpec("int64", value="1234567 * n"),
        },
        cases=(CaseSpec({"n": (3,), "drawn": (7,)}, ("normal",)),),
    )
    said = cases_of(exercise, 1)[0].said.text("en")
    assert said == "n = 3, m = 3.5, l = 3703701, values normal"
    kernel = replace(
        course.exercise("kinds/axpy"), cases=(CaseSpec({"n": (3,), "drawn": (7,)}, ("normal",)),)
    )
    assert cases_of(kernel, 1)[0].said.text("en") == "n = 3, drawn = 7, values normal"


def test_references_see_what_the_kernel_sees(course: Course) -> None:
    """Inputs are rounded to their type before the reference has them in float64."""
    exercise = course.exercise("kinds/axpy")
    case = cases_of(exercise, 3)[-1]
    (expected,) = expected_outputs(exercise, case)
    a, x, y = (
        np.asarray(each).astype(np.float64)
        for each in (case.scalars["a"], case.inputs["x"], case.inputs["y"])
    )
    assert (expected.value == a * x + y).all()
    assert expected.value.dtype == np.float64
    assert expected.dtype == np.float32


def test_integers_are_compared_bit_by_bit(course: Course) -> None:
    exercise = course.exercise("kinds/halves")
    case = cases_of(exercise, 3)[-1]
    (expected,) = expected_outputs(exercise, case)
    assert expected.allowed is None
    assert expected.value.dtype == np.int32


def test_integers_wrap_as_the_hardware_s_do(course: Course) -> None:
    exercise = replace(course.exercise("kinds/halves"), reference={"y": "x + 2 ** 31"})
    case = next(each for each in cases_of(exercise, 3) if each.values == "normal" and each.elements)
    (expected,) = expected_outputs(exercise, case)
    assert (expected.value == case.inputs["x"] + np.int32(-(2**31))).all()


def test_a_reference_with_fractions_is_refused_for_integers(course: Course) -> None:
    exercise = replace(course.exercise("kinds/halves"), reference={"y": "x / 3"})
    with pytest.raises(FlashpathError, match="fractions"):
        expected_outputs(exercise, cases_of(exercise, 3)[-1])


def test_a_reference_in_a_file(course: Course, tmp_path: Path) -> None:
    file = tmp_path / "reference.py"
    file.write_text("def reference(a, x, y):\n    return a * x + y\n")
    plain = course.exercise("kinds/axpy")
    exercise = replace(plain, reference={}, reference_file=file)
    case = cases_of(exercise, 3)[-1]
    assert (expected_outputs(exercise, case)[0].value == expected_outputs(plain, case)[0].value).all()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("def reference(q):\n    return q\n", "asks for q"),
        ("def reference(x, y):\n    return x, y\n", "returned 2 arrays"),
        ("z = 1\n", "no function reference"),
    ],
)
def test_a_reference_that_does_not_fit_is_refused(
    course: Course, tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "reference.py"
    file.write_text(text)
    exercise = replace(course.exercise("kinds/axpy"), reference={}, reference_file=file)
    with pytest.raises(FlashpathError, match=words):
        expected_outputs(exercise, cases_of(exercise, 3)[-1])


def test_a_scale_of_another_shape_leaves_other_outputs_alone(course: Course) -> None:
    exercise = replace(
        course.exercise("kinds/row-sums"),
        arrays={
            **course.exercise("kinds/row-sums").arrays,
            "top": ArraySpec("float32", ("rows", "n"), role="output"),
        },
        reference={"y": "x.sum(axis=1)", "top": "2 * x"},
        tolerance=Tolerance("n", "np.abs(x).sum(axis=1)"),
    )
    case = cases_of(exercise, 3)[-1]
    sums, twice = expected_outputs(exercise, case)
    assert sums.allowed is not None
    assert twice.allowed is not None
    assert twice.allowed.shape == twice.value.shape
    assert sums.allowed.min() > twice.allowed.max()


def test_drawn_sizes_can_be_multiples_of_an_earlier_one(course: Course) -> None:
    spec = CaseSpec({"n": (16,), "first": (Drawn(5, 70, "n"),)}, ("normal",))
    exercise = replace(course.exercise("kinds/axpy"), cases=(spec,))
    assert {cases_of(exercise, seed)[0].sizes["first"] for seed in range(100)} == {16, 32, 48, 64}


def test_some_cases_run_under_another_schedule(course: Course) -> None:
    orders = [case.schedule for case in cases_of(course.exercise("kinds/axpy"), 1)]
    assert 0 in orders
    assert any(orders)
    assert orders != [case.schedule for case in cases_of(course.exercise("kinds/axpy"), 2)]


def test_data_that_is_moved_is_compared_bit_by_bit() -> None:
    stored = np.array([0.0, -0.0, 1.0, np.nan], np.float32)
    expected = Expected("y", stored, np.dtype(np.float32), None)
    assert compare(expected, stored.copy()) is None
    assert compare(expected, np.array([0.0, 0.0, 1.0, np.nan], np.float32)) is not None
    assert (
        compare(expected, np.array([0.0, -0.0, np.nextafter(np.float32(1), 2), np.nan], np.float32))
        is not None
    )
