"""Expressions of the course's files: what they can say, and what they can not."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from flashpath.course.expressions import (
    Drawn,
    ExpressionError,
    check,
    drawn,
    evaluate,
    evaluate_integer,
)

REPORT = SimpleNamespace(dram_bytes=800, lines=(SimpleNamespace(line=3),))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("256", 256),
        ("ceil_div(n, 256)", 4),
        ("min(n, 12) + max(2, 3)", 15),
        ("n if n > 5 else 0", 1000),
        ("next_power_of_two(n)", 1024),
        ("report.dram_bytes / (8 * 100)", 1.0),
        ("report.lines[0].line", 3),
        ("np.sum(x) + x.max()", 9.0),
        ("np.exp(x - x.max(axis=0))[-1]", 1.0),
        ("np.einsum('i,i->', x, x)", 14.0),
        ("np.logaddexp.reduce(x) > 3", True),
        ("-n % 7", -1000 % 7),
    ],
)
def test_values(text: str, value: object) -> None:
    assert evaluate(text, {"n": 1000, "x": np.array([1.0, 2.0, 3.0]), "report": REPORT}) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n +", "cannot be read"),
        ("m + 1", "there is no m here"),
        ("n.__class__", "begins with an underscore"),
        ("__import__('os')", "underscore"),
        ("np.load('f')", "np.load is not for expressions"),
        ("np.lib.npyio", "np.lib is not for expressions"),
        ("x.tofile('f')", ".tofile is not for expressions"),
        ("open('f')", "open is no function here"),
        ("(lambda: 1)()", "Lambda has no place"),
        ("[i for i in x]", "ListComp has no place"),
        ("(y := 3)", "NamedExpr has no place"),
        ("f'{n}'", "has no place"),
        ("1j", "has no place"),
        ("n / 0", "divides by zero, where n = 1000"),
        ("x[10]", "IndexError"),
        ("report.nothing", "AttributeError"),
    ],
)
def test_what_it_refuses(text: str, words: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, {"n": 1000, "x": np.arange(3), "report": REPORT})
    assert words in str(caught.value)
    assert text in str(caught.value)


def test_it_is_checked_without_values() -> None:
    check("ceil_div(n, 256) + np.abs(n)", ["n"])
    with pytest.raises(ExpressionError, match="Did you mean rows"):
        check("row * 2", ["rows", "columns"])


def test_whole_numbers() -> None:
    assert evaluate_integer("n / 2", {"n": 8}) == 4
    for text in ("n / 3", "0 - n", "np.inf", "np.ones(2)"):
        with pytest.raises(ExpressionError, match="whole number"):
            evaluate_integer(text, {"n": 8})


def test_drawn_sizes_stand_alone() -> None:
    assert drawn("between(2, 5)") == Drawn(2, 5)
    assert Drawn(2, 5).draw(lambda low, high: low + high) == 7
    assert drawn("2 * n") is None
    for text in ("2 * between(2, 5)", "between(2)", "between(5, 2)"):
        with pytest.raises(ExpressionError):
            drawn(text)
