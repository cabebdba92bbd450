"""Figures of the unit on FlashAttention 2: orders as traced, SMs and warps at work, what was measured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from flashpath import gpus, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

if TYPE_CHECKING:
    from flashpath.vgpu.report import Report

_TILE = 32
_TILES = 4
_HEADS = 2
_DIM = 16
_ROW_BYTES = _HEADS * _DIM * 2

# ---- The two loops, as traced --------------------------------------------------------------------------


def loops(lang: str) -> Figure:
    """Draws in which step of which program each pair of tiles is computed: one head, a causal mask."""
    one, two = _traced()
    said = {
        "en": (
            "version 1: one program has the whole head, keys outside",
            "version 2: a program for each tile of queries",
            "Q tile",
            "K tile",
            "{} q tiles and {} k tiles loaded; o, m and l of a tile pass through memory in every step.",
            "{} q tiles and {} k tiles loaded; o, m and l of a row stay in its program.",
            "A number is a step of the program's loop; empty: left out. Rows start from the last one up.",
        ),
        "zh": (
            "版本 1：一个 program 负责整个头，键在外层",
            "版本 2：每块查询一个 program",
            "Q 块",
            "K 块",
            "一共加载 {} 次 Q 块、{} 次 K 块；每一步，这一块的 o、m、l 都要经过内存。",
            "一共加载 {} 次 Q 块、{} 次 K 块；一行的 o、m、l 留在它的 program 里。",
            "数字是该 program 循环的第几步；空格：跳过。各行由最后一行开始，从下往上启动。",
        ),
    }[lang]
    rows = [f"{said[2]} {i}" for i in range(_TILES)]
    columns = [f"{said[3]} {j}" for j in range(_TILES)]
    numbers = [["" for _ in range(_TILES)] for _ in range(_TILES)]
    groups: list[list[Group]] = [[None] * _TILES for _ in range(_TILES)]
    for step, (i, j) in enumerate(one, 1):
        numbers[i][j], groups[i][j] = str(step), 0
    picture = Picture().heading(said[0]).grid(numbers, groups, rows=rows, columns=columns)
    picture.note(said[4].format(len(one), len({j for _, j in one})))

    numbers = [
        [str(two[i].index(j) + 1) if j in two[i] else "" for j in range(_TILES)] for i in range(_TILES)
    ]
    groups = [[i if j in two[i] else None for j in range(_TILES)] for i in range(_TILES)]
    picture.heading(said[1]).grid(numbers, groups, rows=rows, columns=columns)
    return picture.note(said[5].format(len(two), sum(map(len, two)))).note(said[6]).both()


def _traced() -> tuple[list[tuple[int, int]], list[list[int]]]:
    """Pairs (tile of queries, of keys) in the order of version 1; the tiles of keys of each program of 2."""
    import torch

    from flashpath import vgpu
    from flashpath.kernels.attention.flash_v1 import host as flash_v1
    from flashpath.kernels.attention.flash_v2.triton import host as flash_v2
    from flashpath.kernels.attention.flash_v2.triton.configs import Config
    from flashpath.kernels.attention.problem import Options, prepare
    from flashpath.vgpu.report.access import Trace

    q, k, v = (torch.zeros(1, _TILE * _TILES, _HEADS, _DIM).bfloat16() for _ in range(3))
    problem = prepare(q, k, v, Options(causal=True))
    with vgpu.triton(profile=True, trace=Trace(block=0, warp=0, requests=1 << 12)) as gpu:
        flash_v1.triton(problem)
    (report,) = gpu.reports
    one: list[tuple[int, int]] = []
    for i in _tiles(report, 0):
        # The queries that come by begin again, with the tile on the diagonal, as the next tile of keys does.
        one.append((i, one[-1][1] if one and i > one[-1][0] else i))
    assert _tiles(report, 1) == sorted({j for _, j in one}), "a tile of keys is loaded once"

    two = [[0] * 0] * _TILES
    for block in range(_TILES):
        with vgpu.triton(profile=True, trace=Trace(block=block, warp=0, requests=1 << 12)) as gpu:
            flash_v2.forward(problem, config=Config(_TILE, _TILE, 4, 2))
        (report,) = gpu.reports
        (own,) = _tiles(report, 0)
        assert own == _TILES - 1 - block, "the last queries start first"
        two[own] = sorted(set(_tiles(report, 1)))
    return one, two


def _tiles(report: Report, argument: int) -> list[int]:
    """The tiles of q (argument 0) or k (1) that the first warp of the traced block loads, in their order."""
    found: list[int] = []
    for access in report.accesses(kind="load", space="global"):
        if access.argument == argument:
            offsets = {address - access.base for address in access.addresses if address is not None}
            found += [tile for tile in range(_TILES) if tile * _TILE * _ROW_BYTES in offsets]
    return found


# ---- What SMs and warps do -----------------------------------------------------------------------------


def sms(lang: str) -> Figure:
    """Which block is at work on which SM in which step: 2 heads of 4 tiles, a causal mask, 3 SMs."""
    heads, tiles, count = 2, 4, 3
    short_first = [(tile + 1, f"{'ab'[head]}{tile}", head) for tile in range(tiles) for head in range(heads)]
    of_heads = [(sum(range(tiles + 1)), "ab"[head], head) for head in range(heads)]
    said = {
        "en": (
            "version 1, a block to a head: {} steps",
            "version 2, tile 0 first: {} steps",
            "version 2, tile 3 first: {} steps",
            "a and b are the heads, numbers their tiles of queries; empty: the SM waits.",
        ),
        "zh": (
            "版本 1，一个线程块负责一个头：{} 步",
            "版本 2，第 0 块查询先启动：{} 步",
            "版本 2，第 3 块查询先启动：{} 步",
            "a、b 是两个头，数字是第几块查询；空格：SM 空闲。",
        ),
    }[lang]
    picture = Picture()
    for title, blocks in zip(said, (of_heads, short_first, short_first[::-1]), strict=False):
        lanes: list[list[tuple[str, Group]]] = [[] for _ in range(count)]
        for length, name, head in blocks:
            min(lanes, key=len).extend([(name, head)] * length)
        steps = max(map(len, lanes))
        for lane in lanes:
            lane.extend([("", None)] * (steps - len(lane)))
        cells = [[name for name, _ in lane] for lane in lanes]
        groups: list[list[Group]] = [[head for _, head in lane] for lane in lanes]
        rows = [f"SM {number}" for number in range(count)]
        picture.grid(cells, groups, rows=rows, title=title.format(steps))
    return picture.note(said[3]).both()


def warps(lang: str) -> Figure:
    """Which warp computes which part of a tile's scores, in both ways to divide them."""
    said = {
        "en": ("keys divided (split-K)", "queries divided (split-Q)", "queries", "keys", "warp {}"),
        "zh": ("划分键（split-K）", "划分查询（split-Q）", "查询", "键", "warp {}"),
    }[lang]
    first = [0, 4, 8, 12]
    rows = [f"{said[2]} {number}–{number + 3}" for number in first]
    columns = [f"{said[3]} {32 * number}–" for number in range(4)]
    names = [said[4].format(number) for number in range(4)]
    numbers: list[Group] = [0, 1, 2, 3]
    picture = Picture()
    picture.grid([names] * 4, [numbers] * 4, rows=rows, columns=columns, title=said[0])
    return picture.grid(
        [[name] * 4 for name in names],
        [[number] * 4 for number in numbers],
        rows=rows,
        columns=columns,
        title=said[1],
    ).both()


def price(lang: str) -> Figure:
    """Picoseconds that an H200 needs for one score with 64 dimensions, at the peak of each unit."""
    h200 = gpus.gpu("H200")
    flops = h200.peak_tflops.fp16_tensor * 1e12
    float32 = h200.peak_tflops.fp32 / 2 * 1e12  # instructions a second: a multiply-add counts as two
    special = float32 * 16 / 128  # results per clock and SM, of the CUDA guide's table for 9.0
    words = {
        "en": ("q kᵀ and p v, tensor cores", "1 exponential", "{} float32 instructions"),
        "zh": ("q kᵀ 与 p v，tensor core", "1 次指数", "{} 条 float32 指令"),
    }[lang]
    prices = [
        (words[0], 4 * 64 / flops),
        (words[1], 1 / special),
        *((words[2].format(count), count / float32) for count in (4, 14)),
    ]
    return Picture().bars([(name, 1e12 * each, f"{1e12 * each:.2f} ps") for name, each in prices]).both()


# ---- Measured ------------------------------------------------------------------------------------------

_TOKENS, _WIDTH = 16384, 32


def speed(lang: str) -> Figure:
    """TFLOP/s on an H200 by length, without a mask, and how many blocks version 1 has for 132 SMs."""
    columns = {
        "en": ["N", "blocks, v1", "naive", "v1", "v2"],
        "zh": ["N", "v1 线程块数", "naive", "v1", "v2"],
    }[lang]
    h200 = gpus.gpu("H200")
    rows: list[list[str]] = []
    groups: list[list[Group]] = []
    for length, case in sorted(_measured().items()):
        sequences = _TOKENS // length
        flops = 4 * sequences * _WIDTH * length**2 * 64
        speeds = [f"{flops / each['time']['median'] / 1e12:.1f}" for each in case]
        few = sequences * _WIDTH < h200.sm_count
        rows.append([f"{length:,}", f"{sequences * _WIDTH:,}{' *' * few}", *speeds])
        groups.append([None, 3 if few else None, None, 0, 2])
    said = {
        "en": "*: fewer than the {} SMs of an H200",
        "zh": "*：少于 H200 的 {} 个 SM",
    }[lang]
    return Picture().grid(rows, groups, columns=columns).note(said.format(h200.sm_count)).both()


def claim(lang: str) -> Figure:
    """How many times faster than the formula in PyTorch, and how many times less memory, by length."""
    columns = {
        "en": ["N", "v1 faster", "v2 faster", "v1 less memory", "v2 less memory"],
        "zh": ["N", "v1 快", "v2 快", "v1 省内存", "v2 省内存"],
    }[lang]
    times = {"en": "{:{}} ×{}", "zh": "{:{}} 倍{}"}[lang]
    note = {"en": "*: as much as is claimed", "zh": "*：正是所说的那么多"}[lang]
    rows: list[list[str]] = []
    groups: list[list[Group]] = []
    for length, (naive, *versions) in sorted(_measured().items()):
        faster = [naive["time"]["median"] / each["time"]["median"] for each in versions]
        smaller = [naive["peak_memory_bytes"] / each["peak_memory_bytes"] for each in versions]
        ratios = [(each, ".1f", 2 <= each <= 4) for each in faster]
        ratios += [(each, ",.0f", 10 <= each <= 20) for each in smaller]
        rows.append(
            [f"{length:,}", *(times.format(each, form, " *" * holds) for each, form, holds in ratios)]
        )
        groups.append([None, *(2 if holds else None for _, _, holds in ratios)])
    return Picture().grid(rows, groups, columns=columns).note(note).both()


def _measured() -> dict[int, list[dict[str, Any]]]:
    """Forward passes with 64 dimensions and no mask, by length: formula, version 1, version 2."""
    file = settings.content_dir("benchmarks/results") / "h200.json"
    wanted = {"direction": "forward", "dim": 64, "causal": False}
    found: dict[int, list[dict[str, Any]]] = {}
    for ladder in json.loads(file.read_text(encoding="utf-8"))["ladders"]:
        for case in ladder["cases"] if ladder["ladder"] == "attention" else ():
            if case["parameters"].items() >= wanted.items():
                records = {each["implementation"]: each for each in case["records"]}
                found[case["parameters"]["sequence"]] = [
                    records[name] for name in ("naive", "flash_v1_triton", "flash_v2_triton")
                ]
    return found
