"""The algebra beside CUTLASS's pycute, where that is installed: 10,000 random layouts, every operation.

Where the two differ, the law of the operation decides: pycute's composition and divide do not check whether
their numbers divide, its right inverse stops at a stride of 0, and its left inverse fills gaps differently.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from flashpath import layout as own
from flashpath.layout import Layout, LayoutError
from flashpath.layout.int_tuple import flatten, transform
from tests.layout.random_layouts import random_layout

pycute: Any = pytest.importorskip("pycute", reason="CUTLASS's pycute is not installed")
if not hasattr(pycute, "composition"):
    pytest.skip("the package pycute that is installed is another one", allow_module_level=True)

LAYOUTS = 10_000


def theirs(layout: Layout) -> Any:
    return pycute.Layout(layout.shape, layout.stride)


def read(layout: Any) -> Layout | None:
    """Takes over a layout of pycute; None where it has an extent of 0, which no layout has."""
    return Layout(layout.shape, layout.stride) if all(flatten(layout.shape)) else None


def normal(layout: Layout) -> Layout:
    """Sets the stride of modes with one coordinate to 0: nothing steps along them."""
    strides = iter([stride if extent > 1 else 0 for extent, stride in layout.flat])
    return Layout(layout.shape, transform(layout.shape, lambda _: next(strides)))


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (LayoutError, AssertionError, ZeroDivisionError):
        return None


def is_composition(made: Layout, outer: Layout, inner: Layout) -> bool:
    """Whether R(c) = outer(inner(c)), the last mode of `outer` taken as endless."""
    *modes, (_, last) = own.coalesce(outer).flat

    def index(number: int) -> int:
        total = 0
        for extent, stride in modes:
            number, position = divmod(number, extent)
            total += position * stride
        return total + number * last

    return made.indices() == [index(number) for number in inner.indices()]


def judge(name: str, one: Layout, other: Layout, ours: Layout | None, its: Layout | None) -> str:
    """Says how the two results stand to each other; fails where ours is not what its name promises."""
    if ours is None and its is None:
        return "refused"
    if ours is not None and its is not None and (ours == its or normal(ours) == normal(its)):
        return "same"
    if name == "composition":
        assert ours is None or is_composition(ours, one, other)
        assert its is None or not is_composition(its, one, other), f"{one} o {other} is {its}"
    elif name == "right_inverse":
        assert ours is not None
        assert [one(ours(index)) for index in range(ours.size)] == list(range(ours.size))
        assert its is not None
        assert its.size <= ours.size
    elif name == "left_inverse":
        if ours is None:
            return "theirs alone"
        assert [ours(index) for index in one.indices()] == list(range(one.size))
    else:  # divide and product compose with a complement
        assert ours is None or its is None or ours.size == its.size
    return "ours alone" if its is None else "theirs alone" if ours is None else "different"


ALONE = {  # and what pycute calls them
    "coalesce": "coalesce",
    "filter_zeros": "filter",
    "right_inverse": "right_inverse",
    "left_inverse": "left_inverse",
}
IN_PAIRS = ("composition", "logical_divide", "zipped_divide", "tiled_divide", "logical_product")


def calls(one: Layout, other: Layout) -> Iterator[tuple[str, Any, Any]]:
    """Yields the name of each operation, our result and pycute's; None where it refuses."""
    its_one, its_other = theirs(one), theirs(other)
    for name, its_name in ALONE.items():
        yield name, attempt(getattr(own, name), one), attempt(getattr(pycute, its_name), its_one)
    for name in IN_PAIRS:
        yield (
            name,
            attempt(getattr(own, name), one, other),
            attempt(getattr(pycute, name), its_one, its_other),
        )
    size = one.cosize * 3
    yield "complement", attempt(own.complement, one, size), attempt(pycute.complement, its_one, size)


def test_ten_thousand_layouts() -> None:
    rng = random.Random(7)
    found: Counter[tuple[str, str]] = Counter()
    for _ in range(LAYOUTS):
        one, other = random_layout(rng, 64), random_layout(rng, 16)
        its_one = theirs(one)
        assert (one.size, one.cosize) == (its_one.size(), its_one.cosize())
        number = rng.randrange(one.size)
        assert one(number) == its_one(number)
        assert one(one.coordinate(number)) == its_one(pycute.idx2crd(number, one.shape))
        for name, ours, its in calls(one, other):
            found[name, judge(name, one, other, ours, None if its is None else read(its))] += 1
    for name in ("coalesce", "filter_zeros", "complement"):
        assert found[name, "same"] + found[name, "refused"] == LAYOUTS, found
    for name in IN_PAIRS:
        assert found[name, "different"] == 0, found
        assert found[name, "same"] > LAYOUTS / 2, found


def test_swizzles() -> None:
    rng = random.Random(8)
    for _ in range(500):
        bits, base = rng.randint(0, 4), rng.randint(0, 4)
        shift = rng.choice((-1, 1)) * rng.randint(max(bits, 1), 6)
        ours, its = own.Swizzle(bits, base, shift), pycute.Swizzle(bits, base, shift)
        assert [ours(index) for index in range(64)] == [its(index) for index in range(64)]
