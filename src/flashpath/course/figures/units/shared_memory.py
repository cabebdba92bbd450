"""Figures of the unit on shared memory: banks with and without padding, strides, the walk of the tiles."""

from __future__ import annotations

from collections.abc import Sequence

from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.vgpu.report import Access

_FEW = 8  # banks and rows in the drawing of a tile; the hardware has 32


def banks(lang: str) -> Figure:
    """A tile, each element by its bank; its first column in one bank, and with padding in all."""
    said = {
        "en": (
            f"rows of {_FEW} words",
            f"rows of {_FEW + 1} words",
            "column 0: one bank",
            "column 0: every bank",
        ),
        "zh": (
            f"每行 {_FEW} 个字",
            f"每行 {_FEW + 1} 个字",
            "第 0 列：全在一个 bank",
            "第 0 列：每个 bank 一个",
        ),
    }[lang]
    plain, padded = (_bank_map(_FEW + padding, said[padding], said[2 + padding]) for padding in (0, 1))
    return Picture().side_by_side(plain, padded).both()


def _bank_map(length: int, title: str, note: str) -> Picture:
    """The bank of every word of a tile; the first column in colour, by bank."""
    cells = [[(row * length + col) % _FEW for col in range(length)] for row in range(_FEW)]
    groups: list[list[Group]] = [
        [bank if col == 0 else None for col, bank in enumerate(row)] for row in cells
    ]
    shown = [[bank if col < _FEW else "–" for col, bank in enumerate(row)] for row in cells]
    return Picture().grid(shown, groups, title=title, rows=range(_FEW)).note(note)


def strides(lang: str) -> Figure:
    """Passes of one warp's load, by stride, by the rule that the virtual GPU counts by."""
    word = {"en": "stride", "zh": "步长"}[lang]
    return (
        Picture().bars([(f"{word} {each}", _passes(each)) for each in (0, 1, 2, 3, 4, 8, 16, 32, 33)]).both()
    )


def _passes(stride: int) -> int:
    addresses = tuple(4 * stride * lane for lane in range(32))
    return Access("ld.shared.f32", "load", "shared", "", 0, (0, 0, 0), 0, 4, addresses).wavefronts


def tile_walk(lang: str) -> Figure:
    """The tiles that one block of a matrix product fetches, by step."""
    steps, tiles = 4, 3
    picture = Picture()
    a = [[p + 1 if row == 1 else "" for p in range(steps)] for row in range(tiles)]
    b = [[p + 1 if col == 2 else "" for col in range(tiles)] for p in range(steps)]
    c = [["Σ" if (row, col) == (1, 2) else "" for col in range(tiles)] for row in range(tiles)]
    picture.side_by_side(*(_tiles(name, cells) for name, cells in (("a", a), ("b", b), ("c", c))))
    said = {
        "en": "each cell is a tile of T × T; the number is the step in which the block of Σ fetches it",
        "zh": "每格是一个 T × T 的小块；数字是负责 Σ 的那个块在第几步取它",
    }
    return picture.note(said[lang]).both()


def _tiles(name: str, cells: Sequence[Sequence[object]]) -> Picture:
    groups: list[list[Group]] = [
        [int(cell) - 1 if isinstance(cell, int) else 4 if cell else None for cell in row] for row in cells
    ]
    return Picture().grid(cells, groups, title=name)


def barriers(lang: str) -> Figure:
    """Two warps in a loop over tiles: with both barriers, and what happens without the second."""
    copy, add, wait, good, bad = {
        "en": ("copy", "add", "wait", "with both barriers", "without the second: ! meets"),
        "zh": ("拷", "加", "等", "两个屏障都有", "没有第二个：带 ! 的撞在一起"),
    }[lang]
    both = [
        [f"{copy} 1", f"{add} 1", wait, f"{copy} 2", f"{add} 2"],
        [f"{copy} 1", f"{add} 1", f"{add} 1", f"{copy} 2", f"{add} 2"],
    ]
    one = [
        [f"{copy} 1", f"{add} 1", f"{copy} 2!", wait, f"{add} 2"],
        [f"{copy} 1", f"{add} 1", f"{add} 1!", f"{copy} 2", f"{add} 2"],
    ]
    picture = Picture()
    for title, cells in ((good, both), (bad, one)):
        groups: list[list[Group]] = [
            [None if cell == wait else 3 if "!" in cell else int(cell[-1]) - 1 for cell in row]
            for row in cells
        ]
        picture.grid(cells, groups, title=title, rows=["warp 0", "warp 1"])
    return picture.both()
