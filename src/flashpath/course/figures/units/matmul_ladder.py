"""Figures of the unit on the ladder of products: speed, counts, reuse, spills, turned tiles, two copies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from flashpath import gpus, jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.vgpu.report import Access, Report

_CASE = "4096³ float32"
_RUNGS = (
    "naive",
    "coalesced",
    "shared_tile",
    "register_1d",
    "register_2d",
    "vectorized",
    "double_buffered",
    "warp_tiled",
)


# ---- The ladder ----------------------------------------------------------------------------------------


def speed(lang: str) -> Figure:
    """The rungs of 4096³ in float32 on an H200, from the records."""
    title = {"en": "4096³ in float32 on an H200, TFLOP/s", "zh": "4096³，float32，H200，TFLOP/s"}[lang]
    measured = _measured()
    names = (*_RUNGS, "torch")
    bars = [(name, measured[name], f"{measured[name]:.3g}") for name in names]
    return Picture().heading(title).bars(bars).both()


def counts(lang: str) -> Figure:
    """What each rung loads for a multiply-add of a warp, its registers, and what an H200 measured."""
    columns = {
        "en": ("sectors", "loads", "passes", "registers", "TFLOP/s"),
        "zh": ("扇区", "加载", "趟", "寄存器", "TFLOP/s"),
    }[lang]
    measured = _measured()
    rows: list[list[str]] = []
    for name in _RUNGS:
        report, registers = _counted(name)
        products = _SIZE["m"] * _SIZE["n"] * _SIZE["k"] / gpus.WARP_SIZE
        loads = (report.global_load.sectors, report.shared_load.requests, report.shared_load.wavefronts)
        rows.append([*(f"{each / products:.3g}" for each in loads), str(registers), f"{measured[name]:.3g}"])
    groups: list[list[Group]] = [[0, 1, 1, None, 2] for _ in rows]
    return Picture().grid(rows, groups, rows=_RUNGS, columns=columns).both()


_SIZE = {"m": 256, "n": 256, "k": 32}  # of what is counted


def _counted(rung: str) -> tuple[Report, int]:
    """A rung's counts for a small product, and its registers on an H200."""
    from flashpath.kernels.matmul import float32

    file = float32.FOLDER / f"{rung}.cu"
    side, tiling = float32.SIMPLE_TILE, float32.TILINGS[0]
    tile, threads, shared = (128, 128), (256,), 0
    arguments = "" if rung.startswith("register") else "<true>"
    if rung == "register_1d":
        tile, threads = (64, 64), (512,)
    elif rung == "warp_tiled":
        tile, threads, shared = tiling[:2], (tiling.threads,), tiling.shared_bytes
        arguments = f"<true, {tiling.kernel_arguments}>"
    elif rung in ("naive", "coalesced", "shared_tile"):
        tile, threads, arguments = (side, side), (side, side), "<float>"
    name = f"matmul_{rung}{arguments}"
    m, n, k = _SIZE["m"], _SIZE["n"], _SIZE["k"]
    arrays = np.ones((m, k), np.float32), np.ones((k, n), np.float32), np.zeros((m, n), np.float32)
    kernel = _kernel(file, name)
    report = jit.profile(
        kernel, grid=(float32.blocks(m, n, tile),), block=threads, shared=shared, args=(m, n, k, *arrays)
    )
    return report, _kernel(file, name, "sm_90").resources.registers


def _measured() -> dict[str, float]:
    """TFLOP/s of every implementation on an H200."""
    from flashpath.bench.record_files import load_runs

    return {
        each.implementation: each.tflop_per_s
        for each in load_runs(settings.content_dir("benchmarks/results"))
        if each.ladder == "matmul" and each.case == _CASE and "H200" in str(each.environment.gpu)
        if each.tflop_per_s is not None
    }


# ---- Registers -----------------------------------------------------------------------------------------

_COLUMN, _SQUARE = (16, 1), (4, 4)


def reuse(lang: str) -> Figure:
    """Sixteen results as a column and as a square, with the elements that they need of a and b."""
    column, square, loads = {
        "en": ("a column of 16", "a square of 4 × 4", "{} loads for {} multiply-adds"),
        "zh": ("一列 16 个", "4 × 4 的方块", "{} 次加载，{} 次乘加"),
    }[lang]
    pictures: list[Picture] = []
    for title, (rows, columns) in ((column, _COLUMN), (square, _SQUARE)):
        cells: list[list[str]] = [["", *("b" for _ in range(columns))]]
        groups: list[list[Group]] = [[None, *(1 for _ in range(columns))]]
        for _ in range(rows):
            cells.append(["a", *("c" for _ in range(columns))])
            groups.append([0, *(2 for _ in range(columns))])
        note = loads.format(rows + columns, rows * columns)
        pictures.append(Picture().grid(cells, groups, title=title).note(note))
    return Picture().side_by_side(*pictures).both()


def spills(lang: str) -> Figure:
    """The kernel with squares of 8 × 8, compiled so that 2, 3 or 4 blocks fit on an SM of an H200."""
    columns, label = {
        "en": (("registers", "spilled, B", "resident", "occupancy"), "{} blocks"),
        "zh": (("寄存器", "溢出，字节", "驻留的块", "占用率"), "{} 块"),
    }[lang]
    asked = (2, 3, 4)
    rows: list[list[str]] = []
    for blocks in asked:
        used = _kernel(_experiment("square.cu"), "matmul", "sm_90", BLOCKS=blocks).resources
        found = gpus.occupancy(gpus.gpu("H200"), 256, used.registers, used.static_shared)
        spilled = used.spill_stores or 0
        rows.append([str(used.registers), str(spilled), str(found.blocks_per_sm), f"{found.fraction:.0%}"])
    groups: list[list[Group]] = [[None, 1 if row[1] != "0" else None, 0, 0] for row in rows]
    labels = [label.format(each) for each in asked]
    return Picture().grid(rows, groups, rows=labels, columns=columns).both()


# ---- A turned tile -------------------------------------------------------------------------------------

_DRAWN = 8  # even lanes, and as many odd ones


def turned(lang: str) -> Figure:
    """The banks that the lanes of a warp store to in a turned tile with rows of 128 and of 132 words."""
    title, lanes_word = {
        "en": ("rows of {} words; passes of this store: {}", "lanes {}, {}, {} …, row {}"),
        "zh": ("每行 {} 个字；这次存储的趟数：{}", "lane {}、{}、{}……，第 {} 行"),
    }[lang]
    picture = Picture()
    for pitch in (128, 132):
        # As in `vectorized`: lane t has the quad t % 2 of row t / 2; its first element goes to row 4 (t % 2).
        words = [lane % 2 * 4 * pitch + lane // 2 for lane in range(gpus.WARP_SIZE)]
        addresses = tuple(4 * word for word in words)
        access = Access("st.shared.f32", "store", "shared", "", 0, (0, 0, 0), 0, 4, addresses)
        cells = [[word % 32 for word in words[first::2][:_DRAWN]] for first in (0, 1)]
        groups: list[list[Group]] = [[row[0] // 16] * _DRAWN for row in cells]
        labels = [lanes_word.format(first, first + 2, first + 4, 4 * first) for first in (0, 1)]
        picture.grid(cells, groups, title=title.format(pitch, access.wavefronts), rows=labels)
    return picture.both()


# ---- Two copies ----------------------------------------------------------------------------------------


def overlap(lang: str) -> Figure:
    """One copy of the tiles and two, in time: what is on its way, what is multiplied, and the barriers."""
    one, two, loads, multiplies, barrier = {
        "en": ("one copy", "two copies", "memory", "multiply", "barrier"),
        "zh": ("一份", "两份", "内存", "乘加", "屏障"),
    }[lang]
    # A load takes two columns of time, its multiply-adds two.
    schedules = (
        (one, ["0", "0", "", "", "1", "1", "", "", "2", "2", "", ""],
         ["", "", "0", "0", "", "", "1", "1", "", "", "2", "2"], {2, 4, 6, 8, 10}),
        (two, ["0", "0", "1", "1", "2", "2", "", "", "", "", "", ""],
         ["", "", "0", "0", "1", "1", "2", "2", "", "", "", ""], {2, 4, 6}),
    )  # fmt: skip
    picture = Picture()
    for title, memory, busy, barriers in schedules:
        ends = ["|" if column in barriers else "" for column in range(len(memory))]
        groups: list[list[Group]] = [
            [0 if each else None for each in memory],
            [1 if each else None for each in busy],
            [None] * len(memory),
        ]
        picture.grid([memory, busy, ends], groups, title=title, rows=(loads, multiplies, barrier))
    return picture.both()


# ---- Kernels -------------------------------------------------------------------------------------------


def _kernel(file: Path, name: str, arch: str = "sm_80", **defines: Any) -> jit.Kernel:
    return jit.compile(file, arch, name_expressions=[name], defines=defines or None)[name]


def _experiment(name: str) -> Path:
    return settings.content_dir("course") / "units/12-matmul-ladder/experiments" / name
