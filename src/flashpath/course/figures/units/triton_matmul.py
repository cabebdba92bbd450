"""Figures of the unit on products in Triton: strips, the order of tiles, waves, tile sizes, speed."""

from __future__ import annotations

from typing import Any, cast

from flashpath import settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.course.figures.python_files import module_of

_UNIT = "units/23-triton-matmul"
_KIB = 1024


# ---- A tile and its strips -----------------------------------------------------------------------------


def strips(lang: str) -> Figure:
    """The tiles of a and b that one program walks along, and its tile of c; the numbers are steps."""
    steps, tiles_m, tiles_n, row, column = 3, 3, 4, 1, 2
    cells: list[list[str]] = []
    groups: list[list[Group]] = []
    for step in range(steps):  # b stands above c
        cells.append([""] * steps + [str(step) if each == column else "b" for each in range(tiles_n)])
        groups.append([None] * steps + [1 if each == column else None for each in range(tiles_n)])
    for each in range(tiles_m):  # a stands beside it
        here = each == row
        left = [str(step) if here else "a" for step in range(steps)]
        cells.append([*left, *("c" for _ in range(tiles_n))])
        right: list[Group] = [2 if here and other == column else None for other in range(tiles_n)]
        groups.append([*([0 if here else None] * steps), *right])
    said = {
        "en": ("its strip of a", "its strip of b", "its tile of c"),
        "zh": ("它的 a 条", "它的 b 条", "它的 c 的 tile"),
    }[lang]
    return Picture().grid(cells, groups).legend(list(enumerate(said))).both()


# ---- The order of tiles --------------------------------------------------------------------------------

_TILES, _WAVE, _GROUP = (6, 8), 9, 3


def order(lang: str) -> Figure:
    """The numbers of programs, row by row and in groups of three rows; the first wave of nine is coloured."""
    plain, grouped, note = {
        "en": ("row by row", "GROUP = {}", "the first {}: {} strips of a, {} of b"),
        "zh": ("逐行", "GROUP = {}", "前 {} 个：a 的 {} 条，b 的 {} 条"),
    }[lang]
    pictures: list[Picture] = []
    for title, group in ((plain, 1), (grouped.format(_GROUP), _GROUP)):
        numbers = _experiment("order").numbers(*_TILES, group)
        groups: list[list[Group]] = [[0 if number < _WAVE else None for number in row] for row in numbers]
        rows = sum(min(row) < _WAVE for row in numbers)
        columns = sum(min(column) < _WAVE for column in zip(*numbers, strict=True))
        said = note.format(_WAVE, rows, columns)
        pictures.append(Picture().grid(numbers, groups, title=title).note(said))
    return Picture().side_by_side(*pictures).both()


def waves(lang: str) -> Figure:
    """Different bytes of a and b that the first 36 programs of a product read, by GROUP, counted."""
    title = {
        "en": "different KiB of a and b that a wave of 36 programs reads",
        "zh": "36 个 program 的一波读取的 a 与 b，不同的 KiB 数",
    }[lang]
    bars: list[tuple[str, float, str]] = []
    for group in (1, 2, 4, 6, 9, 16):
        report, _ = _counted((512, 512, 64), (32, 32, 32), warps=4, group=group, programs=36)
        read = (report.dram_bytes - report.global_store.bytes) / _KIB
        bars.append((f"GROUP = {group}", read, f"{read:g}"))
    return Picture().heading(title).bars(bars).both()


# ---- Tile sizes ----------------------------------------------------------------------------------------


def shapes(lang: str) -> Figure:
    """One product with several tiles: what is loaded and executed, and what a program takes."""
    columns = {
        "en": ("programs", "KiB loaded", "instructions", "registers", "shared KiB"),
        "zh": ("program", "加载 KiB", "指令", "寄存器", "共享 KiB"),
    }[lang]
    label = {"en": "{} × {}, {} warps", "zh": "{} × {}，{} 个 warp"}[lang]
    rows: list[list[str]] = []
    labels: list[str] = []
    for block_m, block_n, warps in (
        (16, 16, 2),
        (32, 32, 4),
        (64, 64, 4),
        (128, 64, 4),
        (128, 128, 4),
        (128, 128, 8),
    ):
        report, kernel = _counted((256, 256, 64), (block_m, block_n, 32), warps=warps)
        labels.append(label.format(block_m, block_n, warps))
        rows.append(
            [
                str(report.grid[0]),
                f"{report.global_load.bytes / _KIB:g}",
                f"{report.warp_instructions:,}",
                str(kernel.n_regs),
                f"{kernel.metadata.shared / _KIB:g}",
            ]
        )
    groups: list[list[Group]] = [[0, 1, 1, 2, 2] for _ in rows]
    return Picture().grid(rows, groups, rows=labels, columns=columns).both()


# ---- What was measured ---------------------------------------------------------------------------------

_CASE = "4096³ bfloat16"
_RUNGS = (
    "wmma",
    "mma_ldmatrix",
    "mma_pipelined",
    "triton_pointers",
    "triton_descriptors",
    "triton_persistent",
    "triton_autotuned",
    "torch",
)


def measured(lang: str) -> Figure:
    """4096³ in bfloat16 on an H200: TFLOP/s and lines of code of CUDA C++, Triton and PyTorch."""
    from flashpath.bench.record_files import load_runs

    title, lines = {
        "en": ("4096³ in bfloat16 on an H200, TFLOP/s", "{} lines"),
        "zh": ("4096³，bfloat16，H200，TFLOP/s", "{} 行"),
    }[lang]
    records = {
        each.implementation: each
        for each in load_runs(settings.content_dir("benchmarks/results"))
        if each.ladder == "matmul" and each.case == _CASE and "H200" in str(each.environment.gpu)
    }
    bars: list[tuple[str, float, str]] = []
    for name in _RUNGS:
        speed, length = records[name].tflop_per_s or 0.0, records[name].lines_of_code
        said = f"{speed:.0f}"
        bars.append((name, speed, f"{said}, {lines.format(length)}" if length else said))
    return Picture().heading(title).bars(bars).both()


# ---- Kernels -------------------------------------------------------------------------------------------


def _counted(
    sizes: tuple[int, int, int],
    tile: tuple[int, int, int],
    *,
    warps: int,
    group: int = 8,
    programs: int | None = None,
) -> tuple[Any, Any]:
    """The counts of the ladder's product with pointers, of all its programs or the first ones; its kernel."""
    import torch

    from flashpath import vgpu
    from flashpath.kernels.matmul import triton_pointers

    m, n, k = sizes
    a, b, c = (torch.ones(shape, dtype=torch.float16) for shape in ((m, k), (k, n), (m, n)))
    constants = {"ALIGNED": True, "PRECISION": "ieee", "GROUP": group, "num_warps": warps, "num_stages": 3}
    constants |= {f"BLOCK_{name}": size for name, size in zip("MNK", tile, strict=True)}
    whole = -(-m // tile[0]) * -(-n // tile[1])
    product = cast("Any", triton_pointers).matmul_pointers
    with vgpu.triton(profile=True) as gpu:
        kernel = product[(programs or whole,)](a, b, c, m, n, k, **constants)
    return gpu.reports[-1], kernel


def _experiment(name: str) -> Any:
    return module_of(settings.content_dir("course") / _UNIT / "experiments" / f"{name}.py")
