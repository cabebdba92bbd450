"""Layouts by example: the values are worked out by hand, many of them CuTe's own documentation's."""

from __future__ import annotations

from typing import Any

import pytest

from flashpath import layout as own
from flashpath.layout import (
    IntTuple,
    Layout,
    LayoutError,
    ThreadValue,
    complement,
    composition,
    left_inverse,
    make_layout,
    parse_layout,
    parse_tiler,
    row_major,
    thread_value,
)
from flashpath.messages import speaking

NINE, THREE = "(9,(4,8)):(59,(13,1))", "<3:3,(2,4):(1,8)>"


def test_a_nested_layout() -> None:
    layout = Layout(((2, 4), (8, 2)), ((8, 32), (1, 16)))
    assert (layout.size, layout.cosize, layout.rank, len(layout)) == (128, 128, 2, 2)
    assert str(layout) == "((2,4),(8,2)):((8,32),(1,16))"
    assert repr(layout) == "Layout('((2,4),(8,2)):((8,32),(1,16))')"
    assert layout(1, 2) == layout((1, 2)) == layout((1, 0), (2, 0)) == layout(17) == 10
    assert layout.coordinate(37) == ((1, 2), (4, 0))
    assert str(layout[1]) == "(8,2):(1,16)"
    assert [mode.size for mode in layout] == [8, 16]
    assert layout.is_injective()


def test_strides_that_are_left_out_fill_memory() -> None:
    assert str(Layout((4, (2, 3)))) == "(4,(2,3)):(1,(4,8))"
    assert str(row_major(4, 2, 3)) == "(4,2,3):(6,3,1)"
    assert str(make_layout([Layout(4, 2), Layout((2, 2))])) == "(4,(2,2)):(2,(1,2))"
    assert str(Layout(7)) == "7:1"
    assert str(Layout(6).with_shape(2, 3)) == "(2,3):(1,2)"


@pytest.mark.parametrize(
    ("name", "layout", "argument", "expected"),
    [
        ("coalesce", "(2,(1,6)):(1,(6,2))", None, "12:1"),
        ("coalesce", "(2,(1,6)):(1,(6,2))", (1, 1), "(2,6):(1,2)"),
        ("composition", "(6,2):(8,2)", "(4,3):(3,1)", "((2,2),3):((24,2),8)"),
        ("composition", "20:2", "(5,4):(4,1)", "(5,4):(8,2)"),
        ("composition", "(10,2):(16,4)", "(5,4):(1,5)", "(5,(2,2)):(16,(80,4))"),
        ("composition", "(12,(4,8)):(59,(13,1))", "<3:4,8:2>", "(3,(2,4)):(236,(26,1))"),
        ("complement", "4:1", 24, "6:4"),
        ("complement", "6:4", 24, "4:1"),
        ("complement", "(4,6):(1,4)", 24, "1:0"),
        ("complement", "4:2", 24, "(2,3):(1,8)"),
        ("complement", "(2,4):(1,6)", 24, "3:2"),
        ("complement", "(2,2):(1,6)", 24, "(3,2):(2,12)"),
        ("logical_divide", "(4,2,3):(2,1,8)", "4:2", "((2,2),(2,3)):((4,1),(2,8))"),
        ("logical_divide", NINE, THREE, "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"),
        ("zipped_divide", NINE, THREE, "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"),
        ("tiled_divide", NINE, THREE, "((3,(2,4)),3,(2,2)):((177,(13,2)),59,(26,1))"),
        ("logical_product", "(2,2):(4,1)", "6:1", "((2,2),(2,3)):((4,1),(2,8))"),
        ("right_inverse", "(4,8):(8,1)", None, "(8,4):(4,1)"),
        ("right_inverse", "(4,8):(1,5)", None, "4:1"),
        ("left_inverse", "(4,8):(1,5)", None, "(5,8):(1,4)"),
    ],
)
def test_examples(name: str, layout: str, argument: Any, expected: str) -> None:
    arguments = [parse_tiler(argument) if isinstance(argument, str) else argument] if argument else []
    assert str(getattr(own, name)(parse_layout(layout), *arguments)) == expected


# ---- What is wrong is explained ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "stride", "says"),
    [
        ((4, 0), None, "(4,0) has an extent below 1"),
        ((), None, "extent below 1"),
        ((4, 8), (1,), "the shape has 2 modes, the stride 1 mode"),
        (4, (1, 2), "the shape has a single number, the stride 2 modes"),
        ((4, (2, 8)), (1, 4), "in mode 1 the shape has (2,8), the stride 4"),
        ((4, (2, (8, 2))), (1, (4, (8, 1, 1))), "in mode 1.1 the shape has (8,2), the stride (8,1,1)"),
        ((4, 8), (1, -4), "(1,-4) has a negative number"),
    ],
)
def test_a_layout_that_does_not_exist(shape: IntTuple, stride: IntTuple | None, says: str) -> None:
    with speaking("en"), pytest.raises(LayoutError) as error:
        Layout(shape, stride)
    assert says in str(error.value)
    assert error.value.fix


@pytest.mark.parametrize(
    ("coordinate", "says"),
    [
        ((32,), "32 is out of range: the shape (4,8) has 32 coordinates"),
        ((4, 0), "4 is out of range: the shape 4 has 4 coordinates"),
        ((-1,), "-1 is out of range"),
        ((1, 2, 3), "(1,2,3) does not fit the shape (4,8)"),
        (((1, 1), 2), "(1,1) does not fit the shape 4"),
    ],
)
def test_a_coordinate_that_does_not_exist(coordinate: tuple[IntTuple, ...], says: str) -> None:
    with speaking("en"), pytest.raises(LayoutError) as error:
        Layout((4, 8))(*coordinate)
    assert says in str(error.value)


@pytest.mark.parametrize(
    ("outer", "inner", "says"),
    [
        ("(4,6):(8,1)", "4:3", ["steps of 3 through a mode of 4", "divides 4, or a multiple of 4"]),
        ("(4,6):(8,1)", "2:6", ["steps of 6 through a mode of 4"]),
        ("(4,6):(8,1)", "6:1", ["4 at a time, and 4 does not divide 6", "a multiple of 4, or at most 4"]),
        ("(6,4):(1,7)", "(2,4):(4,1)", ["reach position 7 of a mode of 6"]),
        ("(4,6):(8,1)", "<2,2,2>", ["a tiler for 3 modes, but (4,6):(8,1) has 2"]),
    ],
)
def test_a_composition_that_does_not_divide(outer: str, inner: str, says: list[str]) -> None:
    for lang in ("en", "zh"):
        with speaking(lang), pytest.raises(LayoutError) as error:
            composition(parse_layout(outer), parse_tiler(inner))
        text = str(error.value)
        assert error.value.fix
        if lang == "en":
            assert all(part in text for part in says), text
        assert outer in text


def test_what_has_no_complement_or_inverse() -> None:
    with speaking("en"):
        with pytest.raises(LayoutError, match="stride 2 begins again within the 4 indices"):
            complement(Layout((4, 4), (1, 2)))
        with pytest.raises(LayoutError, match="no left inverse: its stride 0"):
            left_inverse(Layout((4, 2), (1, 0)))
        with pytest.raises(LayoutError, match="no left inverse: its stride 3"):
            left_inverse(Layout((2, 2), (2, 3)))


# ---- Threads and values ------------------------------------------------------------------------------------


def test_threads_and_values_cover_a_tile() -> None:
    held = thread_value(row_major(4, 8), Layout((2, 2)))
    assert held.tile == (8, 16)
    assert [held.element(0, value) for value in range(4)] == [(0, 0), (1, 0), (0, 1), (1, 1)]
    assert held.element(1, 0) == (0, 2)
    assert held.element(8, 0) == (2, 0)
    owners = held.owners()
    assert sorted(owner for row in owners for cell in row for owner in cell) == [
        (thread, value) for thread in range(32) for value in range(4)
    ]
    assert owners[2][0] == [(8, 0)]


def test_a_thread_value_layout_that_does_not_exist() -> None:
    with speaking("en"):
        with pytest.raises(LayoutError, match="it has 1 mode"):
            ThreadValue(Layout(4), (2, 2))
        with pytest.raises(LayoutError, match="reaches element 31, but a tile of 4 by 4 has 16 elements"):
            ThreadValue(Layout((4, 8)), (4, 4))
