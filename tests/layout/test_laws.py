"""The laws of the algebra, on layouts that hypothesis draws."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flashpath.layout import (
    ComposedLayout,
    Layout,
    LayoutError,
    Swizzle,
    blocked_product,
    coalesce,
    complement,
    composition,
    filter_zeros,
    left_inverse,
    logical_divide,
    logical_product,
    parse_layout,
    raked_product,
    right_inverse,
    tiled_divide,
    zipped_divide,
    zipped_product,
)
from flashpath.layout.int_tuple import depth, flatten, is_congruent
from tests.layout.random_layouts import random_layout

settings.register_profile("layout", max_examples=100, deadline=None)
settings.load_profile("layout")

layouts = st.builds(random_layout, st.builds(random.Random, st.integers(0, 2**32)), st.just(128))
tiles = st.builds(Layout, st.sampled_from((1, 2, 3, 4, 8)), st.sampled_from((1, 2, 4, 8)))


@st.composite
def swizzles(draw: st.DrawFn) -> Swizzle:
    bits = draw(st.integers(0, 4))
    shift = bits + draw(st.integers(0, 3))
    return Swizzle(bits, draw(st.integers(0, 4)), shift * draw(st.sampled_from((-1, 1))))


@given(layouts)
def test_a_number_and_a_coordinate_lead_to_the_same_index(layout: Layout) -> None:
    indices = layout.indices()
    assert len(indices) == layout.size
    assert max(indices) + 1 == layout.cosize
    for number in range(layout.size):
        coordinate = layout.coordinate(number)
        assert is_congruent(coordinate, layout.shape)
        assert layout(number) == layout(coordinate) == indices[number]


@given(layouts)
def test_what_is_printed_is_read_again(layout: Layout) -> None:
    assert parse_layout(str(layout)) == layout
    swizzled = ComposedLayout(Swizzle(2, 1, 3), 4, layout)
    assert parse_layout(str(swizzled)) == swizzled


@given(layouts)
def test_coalesce_keeps_the_function_in_fewer_modes(layout: Layout) -> None:
    short = coalesce(layout)
    assert short.indices() == layout.indices()
    assert depth(short.shape) <= 1
    assert coalesce(short) == short
    assert all(one[0] * one[1] != other[1] for one, other in itertools.pairwise(short.flat))
    by_mode = coalesce(layout, (1,) * layout.rank)
    assert by_mode.rank == layout.rank
    assert by_mode.indices() == layout.indices()
    assert set(filter_zeros(layout).indices()) == set(layout.indices())


@given(layouts, layouts)
def test_composition_is_one_function_after_the_other(outer: Layout, inner: Layout) -> None:
    try:
        composed = composition(outer, inner)
    except LayoutError:
        return
    assert composed.size == inner.size
    assert composed.rank == inner.rank or inner.rank == 1
    within = [number for number in range(inner.size) if inner(number) < outer.size]
    assert [composed(number) for number in within] == [outer(inner(number)) for number in within]


@given(layouts, tiles, tiles)
def test_composition_is_associative(layout: Layout, middle: Layout, inner: Layout) -> None:
    try:
        left = composition(composition(layout, middle), inner)
        right = composition(layout, composition(middle, inner))
    except LayoutError:
        return
    if inner.cosize <= middle.size and middle.cosize <= layout.size:
        assert left.indices() == right.indices()


@given(layouts)
def test_identity_composes_to_the_same(layout: Layout) -> None:
    assert composition(layout, Layout(layout.size)).indices() == layout.indices()
    assert composition(Layout(layout.cosize), layout).indices() == layout.indices()


@given(layouts, st.integers(1, 4))
def test_complement_fills_the_gaps(layout: Layout, times: int) -> None:
    size = layout.cosize * times
    try:
        rest = complement(layout, size)
    except LayoutError:
        return
    own = filter_zeros(layout)
    gaps = rest.indices()
    assert gaps == sorted(set(gaps))
    together = [start + index for start in gaps for index in own.indices()]
    assert len(set(together)) == len(together), "an index is reached twice"
    assert rest.size * own.size >= size or rest.cosize * own.cosize >= size


@given(layouts)
def test_a_complement_is_refused_only_where_indices_overlap(layout: Layout) -> None:
    """Between the smallest and the largest index of a mode, another mode begins."""
    try:
        complement(layout)
    except LayoutError:
        modes = sorted((stride, extent) for extent, stride in layout.flat if extent > 1 and stride)
        assert any(other < stride * extent for (stride, extent), (other, _) in itertools.pairwise(modes))


@given(layouts)
def test_right_inverse(layout: Layout) -> None:
    inverse = right_inverse(layout)
    assert [layout(inverse(index)) for index in range(inverse.size)] == list(range(inverse.size))
    if sorted(layout.indices()) == list(range(layout.size)):
        assert inverse.size == layout.size


@given(layouts)
def test_left_inverse(layout: Layout) -> None:
    try:
        inverse = left_inverse(layout)
    except LayoutError:
        return
    assert [inverse(index) for index in layout.indices()] == list(range(layout.size))


# ---- Divide and product ------------------------------------------------------------------------------------


@given(layouts, tiles)
def test_divide_keeps_every_element(layout: Layout, tile: Layout) -> None:
    try:
        divided = logical_divide(layout, tile)
    except LayoutError:
        return
    assert divided.rank == 2
    assert divided[0].indices() == composition(layout, tile).indices()
    if divided.size == layout.size:
        assert sorted(divided.indices()) == sorted(layout.indices())
    assert zipped_divide(layout, tile) == divided
    assert tiled_divide(layout, tile).indices() == divided.indices()


@given(st.sampled_from((1, 2, 4)), st.sampled_from((1, 2, 4)), st.permutations((0, 1, 2, 3)))
def test_divide_by_modes(rows: int, columns: int, order: list[int]) -> None:
    strides = [2 ** (2 * order.index(mode)) for mode in range(4)]  # four modes of four
    layout = Layout(((4, 4), (4, 4)), ((strides[0], strides[1]), (strides[2], strides[3])))
    zipped = zipped_divide(layout, (rows, columns))
    assert zipped[0].size == rows * columns
    assert sorted(zipped.indices()) == sorted(layout.indices())
    for row in range(rows):
        for column in range(columns):
            assert zipped((row, column), 0) == layout(row, column)
    assert tiled_divide(layout, (rows, columns)).rank == 3
    assert logical_divide(layout, (rows, None))[1] == layout[1]


@given(layouts, tiles)
def test_product_repeats_the_block_without_overlap(block: Layout, tiler: Layout) -> None:
    try:
        repeated = logical_product(block, tiler)
    except LayoutError:
        return
    assert repeated[0] == block
    assert repeated[1].size == tiler.size
    if block.is_injective() and tiler.is_injective():
        assert repeated.is_injective()
    assert zipped_product(block, tiler) == repeated


@given(
    st.sampled_from(((2, 2), (4, 2), (3, 5))),
    st.sampled_from(((2, 4), (3, 1), (1, 1))),
    st.booleans(),
)
def test_blocked_and_raked_products(block: tuple[int, int], tiler: tuple[int, int], row_wise: bool) -> None:
    inner = Layout(block, (block[1], 1)) if row_wise else Layout(block)
    outer = Layout(tiler)
    blocked, raked = blocked_product(inner, outer), raked_product(inner, outer)
    assert (
        [mode.size for mode in blocked]
        == [mode.size for mode in raked]
        == [block[mode] * tiler[mode] for mode in (0, 1)]
    )
    step = inner.size
    for row in range(blocked[0].size):
        for column in range(blocked[1].size):
            tile = outer(row // block[0], column // block[1])
            assert blocked(row, column) == step * tile + inner(row % block[0], column % block[1])
            tile = outer(row % tiler[0], column % tiler[1])
            assert raked(row, column) == step * tile + inner(row // tiler[0], column // tiler[1])


def test_a_product_has_the_rank_of_the_larger() -> None:
    assert str(blocked_product(Layout((2, 2)), Layout(3))) == "((2,3),(2,1)):((1,4),(2,0))"
    assert str(raked_product(Layout(4), Layout(3))) == "((3,4)):((4,1))"


# ---- Swizzle -----------------------------------------------------------------------------------------------


@given(swizzles())
def test_a_swizzle_is_its_own_inverse(swizzle: Swizzle) -> None:
    size = 1 << (swizzle.bits + swizzle.base + abs(swizzle.shift))
    flipped = [swizzle(index) for index in range(min(size, 4096))]
    assert [swizzle(index) for index in flipped] == list(range(len(flipped)))
    kept = (1 << swizzle.base) - 1
    assert all((index ^ other) & kept == 0 for index, other in enumerate(flipped)) or swizzle.shift < 0


@given(layouts, swizzles(), st.integers(0, 64))
def test_a_swizzle_stays_outside_of_what_is_done_to_coordinates(
    layout: Layout, swizzle: Swizzle, offset: int
) -> None:
    swizzled = ComposedLayout(swizzle, offset, layout)
    assert swizzled.indices() == [swizzle(offset + index) for index in layout.indices()]
    assert swizzled(layout.size - 1) == swizzled.indices()[-1]
    assert coalesce(swizzled).indices() == swizzled.indices()
    assert swizzled.cosize == max(swizzled.indices()) + 1
    if layout.size % 2 == 0:
        try:
            divided = zipped_divide(swizzled, 2)
        except LayoutError:
            return
        assert divided.inner == zipped_divide(layout, 2)
        assert sorted(divided.indices()) == sorted(swizzled.indices())


@pytest.mark.parametrize("numbers", [(-1, 0, 0), (0, -1, 0), (3, 3, 2), (2, 0, -1)])
def test_impossible_swizzles_are_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(LayoutError, match="no swizzle"):
        Swizzle(*numbers)


def test_flat_modes_are_those_of_shape_and_stride() -> None:
    layout = Layout((2, (3, 4)), (1, (2, 6)))
    assert layout.flat == list(zip(flatten(layout.shape), flatten(layout.stride), strict=True))
