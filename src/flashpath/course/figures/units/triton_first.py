"""Figures of the unit on the first Triton kernel: programs, lanes, tiles, strides, and what was measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from flashpath import settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.course.figures.python_files import module_of

_UNIT = "units/21-triton-first"
_BLOCK = 1024  # as the program 01_vector_add.py has it
_LANES = 32


def programs(lang: str) -> Figure:
    """Twenty elements: in CUDA each has a thread, in Triton each eight have a program."""
    n, block = 20, 8
    places = range(-(-n // block) * block)
    inside: list[Group] = [i // block if i < n else None for i in places]
    said = {
        "en": ("CUDA: the text is one thread's", "Triton: the text is one program's", "the mask is false"),
        "zh": ("CUDA：代码写的是一个线程", "Triton：代码写的是一个 program", "掩码为假"),
    }[lang]
    picture = Picture().heading(said[0])
    picture.grid([[f"t{i % block}" for i in places]], [inside])
    picture.links([(i, i) for i in range(n)])
    picture.grid([list(range(n))], [inside[:n]])
    picture.heading(said[1])
    starts = [f"p{i // block}" if i % block == 0 else "" for i in places]
    offsets = [i if i < n else "×" for i in places]
    picture.grid([starts, offsets], [[i // block for i in places], inside], rows=["program_id", "offsets"])
    picture.legend([*((p, f"program {p}") for p in range(len(places) // block)), (None, said[2])])
    return picture.both()


def holders(lang: str) -> Figure:
    """Which lane holds which elements of a tile of 1024, as the compiled vector addition says it."""
    per_thread, warps = _layout()
    per_round = per_thread * _LANES * warps
    lanes = (0, 1, 2, _LANES - 1)
    columns = [f"lane {lanes[0]}", f"lane {lanes[1]}", f"lane {lanes[2]}", "…", f"lane {lanes[-1]}"]
    rows: list[str] = []
    cells: list[list[str]] = []
    groups: list[list[Group]] = []
    for turn in range(_BLOCK // per_round):
        for warp in range(warps):
            firsts = [turn * per_round + (warp * _LANES + lane) * per_thread for lane in lanes]
            texts = [f"{first}–{first + per_thread - 1}" for first in firsts]
            rows.append(f"warp {warp}")
            cells.append([*texts[:-1], "…", texts[-1]])
            groups.append([*([turn] * (len(lanes) - 1)), None, turn])
    said = {"en": ("first 16 bytes", "second 16 bytes"), "zh": ("第一个 16 字节", "第二个 16 字节")}[lang]
    picture = Picture().grid(cells, groups, rows=rows, columns=columns)
    return picture.legend(list(enumerate(said))).both()


def _layout() -> tuple[int, int]:
    """Elements side by side in a thread, and warps, of the vector addition's tile."""
    import torch

    from flashpath import vgpu

    module = cast("Any", module_of(settings.content_dir("programs") / "triton/01_vector_add.py"))
    a, b, c = (torch.zeros(_BLOCK) for _ in range(3))
    with vgpu.triton():
        kernel = module.add_kernel[(1,)](a, b, c, _BLOCK, BLOCK=_BLOCK)
    pattern = r"sizePerThread = \[(\d+)\], threadsPerWarp = \[32\], warpsPerCTA = \[(\d+)\]"
    found = re.search(pattern, kernel.asm["ttgir"])
    assert found is not None
    return int(found[1]), int(found[2])


def tiles(lang: str) -> Figure:
    """A matrix under programs on two axes: the offsets of its elements, nothing where the mask is false."""
    rows, cols, height, width = 5, 10, 4, 4
    down, across = -(-rows // height), -(-cols // width)
    inside = [[r < rows and c < cols for c in range(across * width)] for r in range(down * height)]
    picture = Picture().grid(
        [[r * cols + c if inside[r][c] else "" for c in range(across * width)] for r in range(down * height)],
        [
            [r // height * across + c // width if inside[r][c] else None for c in range(across * width)]
            for r in range(down * height)
        ],
        rows=[f"row {r}" for r in range(down * height)]
        if lang == "en"
        else [f"第 {r} 行" for r in range(down * height)],
    )
    return picture.legend(
        [(r * across + c, f"program ({r}, {c})") for r in range(down) for c in range(across)]
    ).both()


def strides(lang: str) -> Figure:
    """Draws where the elements of four views lie in memory: r · row stride + c · column stride."""
    said = {
        "en": ("rows one after the other", "transposed", "every second column", "one row for all"),
        "zh": ("各行依次相连", "转置", "隔一列取一列", "所有行都是同一行"),
    }[lang]
    views = zip(said, ((4, 1), (1, 3), (8, 2), (0, 1)), strict=True)
    pictures: list[Picture] = []
    for name, (row_stride, col_stride) in views:
        places = [[r * row_stride + c * col_stride for c in range(4)] for r in range(3)]
        groups: list[list[Group]] = [[r] * 4 for r in range(3)]
        title = f"({row_stride}, {col_stride})"
        pictures.append(Picture().note(name).grid(places, groups, title=title))
    return Picture().side_by_side(*pictures[:2]).side_by_side(*pictures[2:]).both()


def views() -> Figure:
    """Sectors that the loads of one kernel touch for four views of as many elements, counted."""
    counts = cast("Callable[[], Any]", _experiment("views").of_views)()
    values = [(name, report.global_load.sectors) for name, report in counts.items()]
    return Picture().bars([(name, sectors, f"{sectors:,}") for name, sectors in values]).both()


def measured(lang: str) -> Figure:
    """Memory throughput on an H200, from the stored records: CUDA rungs and Triton's."""
    from flashpath import kernels
    from flashpath.bench.counting import last_measured

    lines = {"en": "lines", "zh": "行"}[lang]
    picture = Picture()
    for name, rungs in (
        ("vector_add", ("one_per_thread", "vectorized", "triton")),
        ("elementwise", ("vectorized", "fused_chain", "triton")),
    ):
        ladder = kernels.ladder(name)
        records = next(
            group
            for group in last_measured(ladder)
            if "H200" in str(next(iter(group.values())).environment.gpu)
        )
        picture.heading(f"{name}: {next(iter(records.values())).case}")
        # Files of elementwise hold many operations: their lengths say nothing of one.
        said = lines if name == "vector_add" else ""
        picture.bars([_bar(rung, records[rung], said) for rung in rungs])
    return picture.both()


def _bar(name: str, record: Any, lines: str) -> tuple[str, float, str]:
    speed = record.gb_per_s / 1000
    length = f", {record.lines_of_code} {lines}" if lines else ""
    return name, speed, f"{speed:.2f} TB/s{length}"


def _experiment(name: str) -> Any:
    return module_of(settings.content_dir("course") / _UNIT / "experiments" / f"{name}.py")
