"""CuTe's notation: what is read, and how a mistake is shown."""

from __future__ import annotations

import pytest

from flashpath.layout import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    Tiler,
    parse_layout,
    parse_swizzle,
    parse_tile,
    parse_tiler,
)
from flashpath.messages import speaking


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("(4,8):(8,1)", "(4,8):(8,1)"),
        (" ( _4 , 8 ) : ( 8,_1 ) ", "(4,8):(8,1)"),
        ("(4,(2,2))", "(4,(2,2)):(1,(4,8))"),
        ("8:2", "8:2"),
        ("(4):(1)", "(4):(1)"),
        ("Sw<3,3,3> o 0 o (8,64):(64,1)", "Sw<3,3,3> o 0 o (8,64):(64,1)"),
        ("S<3,4,-3> o (8,64):(64,1)", "Sw<3,4,-3> o 0 o (8,64):(64,1)"),
        ("Swizzle<1,2,3> ∘ 5 ∘ 8", "Sw<1,2,3> o 5 o 8:1"),
    ],
)
def test_layouts(text: str, printed: str) -> None:
    assert str(parse_layout(text)) == printed


@pytest.mark.parametrize(
    ("text", "tiler"),
    [
        ("4", 4),
        ("4:2", Layout(4, 2)),
        ("(4,8)", (4, 8)),
        ("(4,8):(8,1)", Layout((4, 8), (8, 1))),
        ("<4:2,_>", (Layout(4, 2), None)),
        ("<2,<4,8:1>>", (2, (4, Layout(8, 1)))),
    ],
)
def test_tilers(text: str, tiler: Tiler) -> None:
    assert parse_tiler(text) == tiler


def test_swizzles_and_tiles() -> None:
    assert parse_swizzle("3,4,-3") == parse_swizzle("Sw<3,4,-3>") == Swizzle(3, 4, -3)
    assert parse_tile("16,8") == parse_tile("(16, 8)") == (16, 8)
    composed = parse_layout("Sw<3,3,3> o 8 o 64:1")
    assert isinstance(composed, ComposedLayout)
    assert composed.offset == 8


@pytest.mark.parametrize(
    ("text", "says", "caret"),
    [
        ("((2,4),8:1", "This ( is never closed", 0),
        ("(2,(4,8):(1,2,8)", "This ( is never closed", 0),
        ("(2,4):(1,2", "This ( is never closed", 6),
        ("(2,4)):1", "This ) closes nothing", 5),
        ("(2 4):1", "'4' stands where a comma or ) should", 3),
        ("(2,,4)", "',' stands where a number or a parenthesis should", 3),
        ("(2,", "ends where a number or a parenthesis should stand", 3),
        ("2:1:1", "ends before ':1'", 3),
        ("(2;4)", "';' has no meaning here", 2),
        ("(中,4)", "'中' has no meaning here", 1),
        ("(-2):1", "A negative number cannot stand here", 1),
        ("Sw<3,3> o 4", "'>' stands where a comma and one more of bits, base and shift should", 6),
        ("Sw<3,3,3> 4", "'4' stands where an o", 10),
    ],
)
def test_a_mistake_is_shown_with_a_caret(text: str, says: str, caret: int) -> None:
    with speaking("en"), pytest.raises(LayoutError) as error:
        parse_layout(text)
    problem = error.value.problem
    assert says in problem
    *_, shown, pointer = problem.splitlines()
    assert shown == f"  {text}"
    assert pointer == " " * (2 + caret) + "^"
    with speaking("zh"):
        assert f"  {text}\n" in error.value.problem


def test_wide_letters_before_the_mistake_take_two_columns() -> None:
    with speaking("en"), pytest.raises(LayoutError) as error:
        parse_layout("8:1 中:")
    assert error.value.problem.endswith("\n      ^")


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_is_no_layout(text: str) -> None:
    with speaking("en"), pytest.raises(LayoutError, match="the text is empty"):
        parse_layout(text)
    for parse in (parse_tiler, parse_swizzle, parse_tile):
        with pytest.raises(LayoutError):
            parse(text)


@pytest.mark.parametrize("text", ["3", "3,3", "3,3,3,3", "a,b,c", "3,3,2"])
def test_what_is_no_swizzle(text: str) -> None:
    with pytest.raises(LayoutError):
        parse_swizzle(text)
