"""Layouts cut into tiles (divide) and repeated as tiles (product)."""

from __future__ import annotations

from collections.abc import Callable

from flashpath.layout.algebra import Tiler, check_rank, complement, composition
from flashpath.layout.layout import Layout, make_layout
from flashpath.layout.swizzle import L, inside

_Split = Callable[[Layout, Layout], Layout]

# ---- Divide --------------------------------------------------------------------------------------------


def logical_divide(layout: L, tiler: Tiler) -> L:
    """Returns (tile, rest): the elements that the tiler points at, and where its repetitions begin.

    A tuple divides mode by mode: ((tile0, rest0), (tile1, rest1), …).
    """
    return inside(layout, lambda plain: _by_mode(_divided, plain, tiler, "logical_divide"))


def zipped_divide(layout: L, tiler: Tiler) -> L:
    """Returns ((tile0, tile1, …), (rest0, rest1, …)): the first mode is a tile, the second counts tiles."""
    return inside(layout, lambda plain: _zipped(_divided, plain, tiler, "zipped_divide"))


def tiled_divide(layout: L, tiler: Tiler) -> L:
    """Returns ((tile0, tile1, …), rest0, rest1, …)."""
    zipped = zipped_divide(layout, tiler)
    return inside(zipped, lambda plain: make_layout([plain[0], *plain[1]]))


def _divided(layout: Layout, tile: Layout) -> Layout:
    return composition(layout, make_layout([tile, complement(tile, layout.size)]))


# ---- Product -------------------------------------------------------------------------------------------


def logical_product(block: L, tiler: Tiler) -> L:
    """Returns (block, repetitions): the block once for each element of the tiler, side by side in memory."""
    return inside(block, lambda plain: _by_mode(_repeated, plain, tiler, "logical_product"))


def zipped_product(block: L, tiler: Tiler) -> L:
    """Returns ((block0, block1, …), (repetitions0, repetitions1, …))."""
    return inside(block, lambda plain: _zipped(_repeated, plain, tiler, "zipped_product"))


def blocked_product(block: L, tiler: Layout) -> L:
    """Returns the grid in which every element of `tiler` has become a block."""
    return inside(block, lambda plain: _gridded(plain, tiler, False))


def raked_product(block: L, tiler: Layout) -> L:
    """Returns the grid in which the blocks interleave: neighbours belong to different blocks."""
    return inside(block, lambda plain: _gridded(plain, tiler, True))


def _repeated(block: Layout, tiler: Layout) -> Layout:
    return make_layout([block, composition(complement(block, block.size * tiler.cosize), tiler)])


def _gridded(block: Layout, tiler: Layout, interleaves: bool) -> Layout:
    """Multiplies both, filled up with modes 1:0 to the same rank, and pairs their modes."""
    rank = max(block.rank, tiler.rank)
    wide = [make_layout([*layout, *[Layout(1, 0)] * (rank - layout.rank)]) for layout in (block, tiler)]
    blocks, repetitions = _repeated(wide[0], wide[1])
    pairs = zip(repetitions, blocks, strict=True) if interleaves else zip(blocks, repetitions, strict=True)
    return make_layout(make_layout(pair) for pair in pairs)


# ---- Both ----------------------------------------------------------------------------------------------


def _by_mode(split: _Split, layout: Layout, tiler: Tiler, what: str) -> Layout:
    if tiler is None:
        return layout
    if isinstance(tiler, tuple):
        check_rank(layout, tiler, what)
        given = [_by_mode(split, mode, part, what) for mode, part in zip(layout, tiler, strict=False)]
        return make_layout([*given, *list(layout)[len(tiler) :]])
    return split(layout, Layout(tiler) if isinstance(tiler, int) else tiler)


def _zipped(split: _Split, layout: Layout, tiler: Tiler, what: str) -> Layout:
    """Splits mode by mode, and gathers the first halves in one mode and the others in a second."""
    if tiler is None:
        return make_layout([Layout(1, 0), layout])
    if isinstance(tiler, tuple):
        check_rank(layout, tiler, what)
        pairs = [_zipped(split, mode, part, what) for mode, part in zip(layout, tiler, strict=False)]
        rest = [*(pair[1] for pair in pairs), *list(layout)[len(tiler) :]]
        return make_layout([make_layout(pair[0] for pair in pairs), make_layout(rest)])
    return split(layout, Layout(tiler) if isinstance(tiler, int) else tiler)
