"""Figures of the unit on softmax in Triton: a masked tile, bytes by launch, the online state."""

from __future__ import annotations

import math
from typing import Any, cast

from flashpath import settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.course.figures.python_files import module_of

_ROWS, _COLS = 64, 1024  # as the exercise on bytes has them


def masked_tile(lang: str) -> Figure:
    """A row of five elements in a tile of eight, on its way through a softmax."""
    row, tile = [2.0, 1.0, 4.0, 3.0, 2.0], 8
    largest = max(row)
    exponentials = [math.exp(each - largest) for each in row]
    quotients = [each / sum(exponentials) for each in exponentials]
    beyond = tile - len(row)
    said = {
        "en": (
            "loaded, other=-inf",
            "less the maximum, 4",
            "e^(…)",
            "over their sum",
            "stored: the mask leaves the rest out",
        ),
        "zh": ("加载，other=-inf", "减去最大值 4", "e^(…)", "除以它们的和", "存储：其余被掩码挡掉"),
    }[lang]
    lines = [
        [*(f"{each:g}" for each in row), *["-∞"] * beyond],
        [*(f"{each - largest:g}" for each in row), *["-∞"] * beyond],
        [*(f"{each:.2f}" for each in exponentials), *["0"] * beyond],
        [*(f"{each:.2f}" for each in quotients), *["0"] * beyond],
        [*(f"{each:.2f}" for each in quotients), *[""] * beyond],
    ]
    groups: list[list[Group]] = [[0] * len(row) + [None] * beyond for _ in lines]
    return Picture().grid(lines, groups, rows=said).both()


def launches(lang: str) -> Figure:
    """KiB that one fused launch moves, and four separate ones, counted on the virtual GPU."""
    import torch

    from flashpath import vgpu

    folder = settings.content_dir("course") / "units/22-triton-softmax/exercises/passes-over-memory"
    fused, steps = cast("Any", module_of(folder / "fused.py")), cast("Any", module_of(folder / "steps.py"))
    x, e, out = (torch.zeros(_ROWS, _COLS) for _ in range(3))
    m, total = torch.zeros(_ROWS), torch.ones(_ROWS)
    with vgpu.triton(profile=True) as gpu:
        steps.row_max[(_ROWS,)](x, m, _COLS, BLOCK=_COLS)
        steps.exponentials[(_ROWS,)](x, m, e, _COLS, BLOCK=_COLS)
        steps.row_sum[(_ROWS,)](e, total, _COLS, BLOCK=_COLS)
        steps.quotients[(_ROWS,)](e, total, out, _COLS, BLOCK=_COLS)
        fused.fused[(_ROWS,)](x, out, _COLS, BLOCK=_COLS)
        moved = [round(report.dram_bytes / 1024) for report in gpu.reports]
    together = {"en": "all four", "zh": "四个合计"}[lang]
    names = ["row_max", "exponentials", "row_sum", "quotients", together, "fused"]
    values = [*moved[:4], sum(moved[:4]), moved[4]]
    return (
        Picture()
        .bars([(name, value, f"{value} KiB") for name, value in zip(names, values, strict=True)])
        .both()
    )


def online(lang: str) -> Figure:
    """Maximum and sum of a row that comes in three blocks."""
    blocks = [[1.0, 3.0, 2.0, 0.0], [2.0, 1.0, 0.0, 2.0], [5.0, 4.0, 1.0, 3.0]]
    m, total = -math.inf, 0.0
    rows: list[list[str]] = []
    for block in blocks:
        larger = max(m, *block)
        factor = math.exp(m - larger)
        new = sum(math.exp(each - larger) for each in block)
        total = total * factor + new
        m = larger
        rows.append(
            [" ".join(f"{each:g}" for each in block), f"{m:g}", f"{factor:.2f}", f"{new:.2f}", f"{total:.2f}"]
        )
    columns = {
        "en": ["block", "m", "factor", "new part", "total"],
        "zh": ["块", "m", "因子", "新的部分", "total"],
    }[lang]
    groups: list[list[Group]] = [[number, None, None, None, number] for number in range(len(rows))]
    return Picture().grid(rows, groups, columns=columns).both()
