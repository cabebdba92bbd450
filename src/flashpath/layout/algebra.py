"""What can be done with layouts: coalesce, compose, complement, invert.

Where two layouts have to fit, the conditions are CuTe's, checked in full: what is returned is always the
function that the name promises, and an operation without a result says which numbers do not divide.
"""

from __future__ import annotations

from collections.abc import Sequence

from flashpath.layout.int_tuple import IntTuple
from flashpath.layout.layout import Layout, LayoutError, make_layout
from flashpath.layout.swizzle import L, inside

Tiler = Layout | int | tuple["Tiler", ...] | None
"""One layout, an extent n for n:1, a tiler for each mode, or None for a mode that is left as it is."""

_Modes = Sequence[tuple[int, int]]


def _from_modes(modes: _Modes) -> Layout:
    if not modes:
        return Layout(1, 0)
    if len(modes) == 1:
        return Layout(*modes[0])
    return Layout(tuple(extent for extent, _ in modes), tuple(stride for _, stride in modes))


def coalesce(layout: L, profile: IntTuple | None = None) -> L:
    """Returns the same function with as few modes as possible; with a profile, mode by mode."""
    return inside(layout, lambda plain: _coalesced(plain, profile))


def _coalesced(layout: Layout, profile: IntTuple | None) -> Layout:
    if isinstance(profile, tuple):
        check_rank(layout, profile, "coalesce")
        given = [_coalesced(mode, part) for mode, part in zip(layout, profile, strict=False)]
        return make_layout([*given, *list(layout)[len(profile) :]])
    modes: list[tuple[int, int]] = []
    for extent, stride in layout.flat:
        if extent == 1:
            continue
        if modes and modes[-1][0] * modes[-1][1] == stride:
            modes[-1] = modes[-1][0] * extent, modes[-1][1]
        else:
            modes.append((extent, stride))
    return _from_modes(modes)


def filter_zeros(layout: Layout) -> Layout:
    """Returns the layout without modes of stride 0, which visit the same elements again; coalesced."""
    return coalesce(_from_modes([mode for mode in layout.flat if mode[1]]))


# ---- Composition ---------------------------------------------------------------------------------------


def composition(outer: L, inner: Tiler) -> L:
    """Returns the layout R with R(c) = outer(inner(c)), whose shape refines that of `inner`.

    A tuple composes mode by mode. The last mode of `outer` counts as endless, as in CuTe.
    """
    return inside(outer, lambda plain: _composition(plain, inner))


def _composition(outer: Layout, inner: Tiler) -> Layout:
    if inner is None:
        return outer
    if isinstance(inner, tuple):
        check_rank(outer, inner, "composition")
        given = [_composition(mode, part) for mode, part in zip(outer, inner, strict=False)]
        return make_layout([*given, *list(outer)[len(inner) :]])
    inner = Layout(inner) if isinstance(inner, int) else inner
    modes = coalesce(outer).flat
    reached = [0] * len(modes)  # how far all parts of `inner` together go within each mode
    composed = _composed(modes, inner, reached, outer, inner)
    for (extent, _), last in zip(modes[:-1], reached, strict=False):
        if last >= extent:
            raise LayoutError(
                "layout.composition-carry", outer=outer, inner=inner, extent=extent, position=last
            )
    return composed


def _composed(modes: _Modes, part: Layout, reached: list[int], outer: Layout, inner: Layout) -> Layout:
    """Composes with one part of `inner`; the whole layouts are for what is said where it fails."""
    if isinstance(part.shape, tuple):
        return make_layout(_composed(modes, mode, reached, outer, inner) for mode in part)
    ((rest, step),) = part.flat
    if rest == 1 or step == 0:
        return Layout(rest, 0)
    taken: list[tuple[int, int]] = []
    for number, (extent, stride) in enumerate(modes):
        if number == len(modes) - 1 or step * (rest - 1) < extent:  # the part ends within the mode
            count = rest
        elif step >= extent:  # the mode is stepped over
            _refuse_stride(step, extent, part, outer, inner)
            step //= extent
            continue
        else:
            _refuse_stride(step, extent, part, outer, inner)
            count = extent // step
            if rest % count:
                raise LayoutError(
                    "layout.composition-extent",
                    outer=outer,
                    inner=inner,
                    part=part,
                    extent=extent,
                    step=step,
                    count=count,
                    rest=rest,
                )
        taken.append((count, step * stride))
        reached[number] += (count - 1) * step
        rest, step = rest // count, 1
        if rest == 1:
            break
    return _from_modes(taken)


def _refuse_stride(step: int, extent: int, part: Layout, outer: Layout, inner: Layout) -> None:
    """Refuses a step that neither fits a whole number of times into a mode nor steps over whole modes."""
    if max(step, extent) % min(step, extent):
        raise LayoutError(
            "layout.composition-stride", outer=outer, inner=inner, part=part, step=step, extent=extent
        )


def check_rank(layout: Layout, tiler: Sequence[object], what: str) -> None:
    """Refuses a tiler that has more modes than the layout."""
    if len(tiler) > layout.rank:
        raise LayoutError("layout.too-many-modes", what=what, got=len(tiler), layout=layout, rank=layout.rank)


# ---- Complement and inverses ---------------------------------------------------------------------------


def complement(layout: Layout, size: int | None = None) -> Layout:
    """Returns the layout of the gaps: together with it, `layout` reaches every index up to `size` and beyond.

    Without a size, it fills the gaps up to the layout's own cosize.
    """
    size = layout.cosize if size is None else size
    modes: list[tuple[int, int]] = []
    reached = 1  # what the modes so far span
    for stride, extent in sorted((stride, extent) for extent, stride in layout.flat if extent > 1 and stride):
        if stride < reached:
            raise LayoutError("layout.complement-overlaps", layout=layout, stride=stride, reached=reached)
        modes.append((stride // reached, reached))
        reached = stride * extent
    modes.append((-(-size // reached), reached))
    return coalesce(_from_modes(modes))


def right_inverse(layout: Layout) -> Layout:
    """Returns the longest R with layout(R(i)) = i: it tells for each index from 0 on who has it."""
    modes: list[tuple[int, int]] = []
    reached = 1
    for stride, extent, position in _by_stride(layout):
        if stride == reached:
            modes.append((extent, position))
            reached *= extent
    return coalesce(_from_modes(modes))


def left_inverse(layout: Layout) -> Layout:
    """Returns an L with L(layout(c)) = c; what it gives for indices in gaps has no meaning."""
    modes: list[tuple[int, int]] = []
    reached, before, width = 1, 0, 1  # the span so far; position and extent of the mode before
    for stride, extent, position in _by_stride(layout):
        if stride % reached or stride < reached * width:
            raise LayoutError("layout.no-left-inverse", layout=layout, stride=stride, reached=reached * width)
        modes.append((stride // reached, before))
        reached, before, width = stride, position, extent
    return coalesce(_from_modes([*modes, (width, before)]))


def _by_stride(layout: Layout) -> list[tuple[int, int, int]]:
    """Returns stride, extent and position (the size of the modes before) of the modes, by their strides."""
    modes: list[tuple[int, int, int]] = []
    position = 1
    for extent, stride in coalesce(layout).flat:
        if extent > 1:
            modes.append((stride, extent, position))
        position *= extent
    return sorted(modes)
