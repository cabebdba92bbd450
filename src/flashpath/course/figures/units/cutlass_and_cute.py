"""Figures of the unit on CUTLASS and CuTe: levels of a GEMM, layouts, a division, owners, a swizzle."""

from __future__ import annotations

from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.layout import (
    AnyLayout,
    Layout,
    Swizzle,
    bank,
    parse_layout,
    row_major,
    thread_value,
    zipped_divide,
)

_ROWS, _COLUMNS = 4, 8
_HALF = 16  # bits


def levels(lang: str) -> Figure:
    """The levels of a GEMM, from the whole problem to one instruction, each with its tile and its memory."""
    said = {
        "en": [
            ("mma", "instruction: 16 × 8 × 16, operands in registers"),
            ("warp", "64 × 32: sums stay in registers"),
            ("block", "128 × 128: tiles of A and B in shared memory"),
            ("kernel", "all of the result: which block takes which tile"),
            ("device", "the call: shapes, pointers, the launch"),
        ],
        "zh": [
            ("mma", "指令：16 × 8 × 16，操作数在寄存器里"),
            ("warp", "64 × 32：累加器留在寄存器里"),
            ("block", "128 × 128：A、B 的小块在共享内存里"),
            ("kernel", "整个结果：哪个线程块算哪一块"),
            ("device", "调用：形状、指针、启动"),
        ],
    }[lang]
    picture = Picture().stack(said, [4, 3, 2, 1, 0])
    note = {
        "en": "each level divides the tile of the level below it",
        "zh": "每一级都划分它下面一级的小块",
    }
    return picture.note(note[lang]).both()


def layouts(lang: str) -> Figure:
    """Three layouts of the same shape: row by row, column by column, and in tiles of 2 by 4."""
    said = {
        "en": ("row by row", "column by column", "tile by tile"),
        "zh": ("按行", "按列", "按小块"),
    }[lang]
    texts = ("(4,8):(8,1)", "(4,8):(1,4)", "((2,2),(4,2)):((4,8),(1,16))")
    picture = Picture()
    for title, text in zip(said, texts, strict=True):
        layout = parse_layout(text)
        cells = [[layout(row, column) for column in range(_COLUMNS)] for row in range(_ROWS)]
        groups: list[list[Group]] = [[index // 8 for index in row] for row in cells]
        picture.grid(cells, groups, title=f"{title}  {text}", rows=range(_ROWS), columns=range(_COLUMNS))
    return picture.both()


def division(lang: str) -> Figure:
    """A matrix before its division, and after it: a column for each tile."""
    matrix = Layout((_ROWS, _COLUMNS), (_COLUMNS, 1))
    tiled = zipped_divide(matrix, (2, 4))
    tile_of = {tiled(place, tile): tile for place in range(tiled[0].size) for tile in range(tiled[1].size)}
    before = [[matrix(row, column) for column in range(_COLUMNS)] for row in range(_ROWS)]
    after = [[tiled(place, tile) for tile in range(tiled[1].size)] for place in range(tiled[0].size)]
    word = {"en": ("before", "after", "tile"), "zh": ("划分前", "划分后", "小块")}[lang]
    picture = Picture()
    picture.grid(before, [[tile_of[index] for index in row] for row in before], title=f"{word[0]}  {matrix}")
    picture.grid(
        after,
        [[tile_of[index] for index in row] for row in after],
        title=f"{word[1]}  {tiled}",
        columns=[f"{word[2]} {tile}" for tile in range(tiled[1].size)],
    )
    return picture.both()


def owners(lang: str) -> Figure:
    """Eight threads and their values on a tile of 4 by 8: values in a row, and in a square."""
    said = {
        "en": ("threads (4,2):(2,1), 4 values side by side", "threads (2,4):(4,1), 2 × 2 values"),
        "zh": ("线程 (4,2):(2,1)，每个取并排的 4 个值", "线程 (2,4):(4,1)，每个取 2 × 2 个值"),
    }[lang]
    shares = (
        thread_value(row_major(4, 2), Layout((1, 4))),
        thread_value(row_major(2, 4), Layout((2, 2))),
    )
    picture = Picture()
    for title, share in zip(said, shares, strict=True):
        held = [[cell[0] for cell in row] for row in share.owners()]
        cells = [[f"T{thread}V{value}" for thread, value in row] for row in held]
        groups: list[list[Group]] = [[thread for thread, _ in row] for row in held]
        picture.grid(cells, groups, title=title)
    return picture.both()


def swizzle(lang: str) -> Figure:
    """The bank of the first word of each piece of 16 bytes, in rows of 64 halves: plain, and swizzled."""
    said = {
        "en": ("(8,64):(64,1)", "with Sw<3,3,3>", "first bank of each piece of 16 bytes; rows 0 to 7"),
        "zh": ("(8,64):(64,1)", "加上 Sw<3,3,3>", "每段 16 字节的第一个 bank；第 0 到 7 行"),
    }[lang]
    plain = Layout((8, 64), (64, 1))
    swizzled = Swizzle(3, 3, 3)
    pictures = [_pieces(plain, said[0], None), _pieces(plain, said[1], swizzled)]
    return Picture().side_by_side(*pictures).note(said[2]).both()


def _pieces(layout: AnyLayout, title: str, moved: Swizzle | None) -> Picture:
    """The bank of every piece of eight halves; column 0 in colour, by bank."""
    indices = [[layout(row, column) for column in range(0, 64, 8)] for row in range(8)]
    banks = [[bank(moved(index) if moved else index, _HALF) for index in row] for row in indices]
    groups: list[list[Group]] = [
        [at // 4 if column == 0 else None for column, at in enumerate(row)] for row in banks
    ]
    return Picture().grid(banks, groups, title=title)
