"""The figures of the unit on coalescing: lanes and sectors, a tile on its way."""

from __future__ import annotations

from flashpath import settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_FLOATS = 8  # of a sector
_SIDE = 4  # of the tile that is drawn


def coalesced(lang: str) -> Figure:
    """32 lanes, 32 neighbouring floats."""
    return _lanes_and_floats(32, 1, lang)


def strided(lang: str) -> Figure:
    """The first half of a warp that reads every second float."""
    return _lanes_and_floats(16, 2, lang)


def _lanes_and_floats(lanes: int, stride: int, lang: str) -> Figure:
    floats = range(lanes * stride)
    wanted = {lane * stride for lane in range(lanes)}
    of_lanes: list[Group] = [lane * stride // _FLOATS for lane in range(lanes)]
    of_floats: list[Group] = [i // _FLOATS if i in wanted else None for i in floats]
    sector, unused = ("扇区", "搬来却没人要") if lang == "zh" else ("sector", "moved, and not wanted")
    picture = Picture()
    picture.grid([list(range(lanes))], [of_lanes], title="lane")
    picture.links([(lane, lane * stride) for lane in range(lanes)])
    picture.grid([list(floats)], [of_floats], title="x[i]")
    entries: list[tuple[Group, str]] = [(k, f"{sector} {k}") for k in range(len(floats) // _FLOATS)]
    picture.legend([*entries, (None, unused)] if stride > 1 else entries)
    return picture.both()


def ways(lang: str) -> Figure:
    """What the kernel of the first exercise counts, for several offsets and strides."""
    import numpy as np

    from flashpath import jit

    folder = settings.content_dir("course") / "units/03-coalescing/exercises/sectors-of-a-warp"
    module = jit.compile(folder / "strided.cu", "sm_80", name_expressions=["strided"], assemble=False)
    bars: list[tuple[str, float, str]] = []
    for index, offset, stride in (
        ("x[lane]", 0, 1),
        ("x[lane + 1]", 1, 1),
        ("x[2 * lane]", 0, 2),
        ("x[3 * lane]", 0, 3),
        ("x[8 * lane]", 0, 8),
        ("x[32 * lane]", 0, 32),
    ):
        x, out = np.zeros(offset + 32 * stride, np.float32), np.zeros(32, np.float32)
        report = jit.profile(module["strided"], 1, 32, (offset, stride, x, out))
        used = report.global_load.bytes / (32 * report.global_load.sectors)
        share = f"用到 {used:.1%}" if lang == "zh" else f"{used:.1%} used"
        bars.append((index, report.global_load.sectors, f"{report.global_load.sectors}, {share}"))
    return Picture().bars(bars).both()


def tiles() -> Figure:
    """A tile on its way through shared memory: colours are warps, numbers are lanes."""
    places = range(_SIDE)
    along_rows = [list(places) for _ in places]
    down_columns = [[r for _ in places] for r in places]
    by_row: list[list[Group]] = [[r for _ in places] for r in places]
    by_column: list[list[Group]] = [list(places) for _ in places]
    warps = [f"warp {k}" for k in places]
    read = Picture().grid(along_rows, by_row, title="tile[k][lane] = x[…]", rows=warps)
    taken = Picture().grid(
        down_columns, by_column, title="… = tile[lane][k]", columns=[f"w{k}" for k in places]
    )
    written = Picture().grid(along_rows, by_row, title="out[…] = …", rows=warps)
    return Picture().side_by_side(read, taken, written).both()
