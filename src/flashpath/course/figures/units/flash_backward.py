"""Figures of the unit on the backward pass: its flow, its loops as traced, what it moves and keeps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from flashpath import gpus, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

if TYPE_CHECKING:
    from flashpath.vgpu.report import Report

_TILE = 32
_TILES = 4
_HEADS = 4  # every kernel has as many blocks as are traced
_DIM = 16


def flow(lang: str) -> Figure:
    """What each kernel takes and makes, from the saved lse to three gradients."""
    words = {
        "en": (
            "saved by the forward pass: Q, K, V, O, lse; given: dO",
            "preprocess, once for each query",
            "main, for each pair of tiles that see each other",
            "postprocess, once for each query",
            "dQ sums = 0",
            "scale, 16 bits",
        ),
        "zh": (
            "前向保存的：Q、K、V、O、lse；给定的：dO",
            "预处理，每个查询一次",
            "主核函数，每一对互相可见的分块",
            "后处理，每个查询一次",
            "dQ 的和 = 0",
            "乘 scale，转成 16 位",
        ),
    }[lang]
    saved, first, main, last, zeros, rounded = words
    sums = "dQ sums" if lang == "en" else "dQ 的和"
    picture = Picture().heading(saved)
    picture.heading(first).flow(["O, dO", "δ = Σ dO ∘ O"], [None, 0])
    picture.flow(["lse", "lse · log₂ e"], [None, 0]).flow([zeros], [3])
    picture.heading(main).flow(
        ["Q, K", "S = scale · Q Kᵀ", "P = e^(S − lse)", "dV += Pᵀ dO"], [None, 1, 1, 2]
    )
    picture.flow(["dO, V", "dP = dO Vᵀ", "dS = P ∘ (dP − δ)", "dK += dSᵀ Q"], [None, 1, 1, 2])
    picture.flow(["dS, K", f"{sums} += dS K"], [None, 3])
    return picture.heading(last).flow([sums, rounded, "dQ"], [3, None, 2]).both()


# ---- The two loops, as traced --------------------------------------------------------------------------


def loops(lang: str) -> Figure:
    """Which tiles each program of the Triton rung loads, and which sums it adds to in memory, as traced."""
    with_keys, with_queries, additions = _traced()
    said = {
        "en": (
            "a program owns a tile of keys: q, dO, lse and δ come by",
            "a program owns a tile of queries: k and v come by",
            "Q tile",
            "K tile",
            "A number is a step of the program's loop; empty: nobody sees anybody.",
            "dK and dV of a column stay in its program. Each step adds to a dQ: {} times to Q tiles 0–{}.",
            "dQ of a row stays in its program, and nothing is added in memory.",
        ),
        "zh": (
            "一个 program 拥有一块键：q、dO、lse、δ 依次走过",
            "一个 program 拥有一块查询：k、v 依次走过",
            "Q 块",
            "K 块",
            "数字是该 program 循环的第几步；空格：互相都看不到。",
            "一列的 dK、dV 留在它的 program 里；每一步都往某个 dQ 加一次：Q 块 0–{1} 依次被加 {0} 次。",
            "一行的 dQ 留在它的 program 里，不在内存里做加法。",
        ),
    }[lang]
    rows = [f"{said[2]} {i}" for i in range(_TILES)]
    columns = [f"{said[3]} {j}" for j in range(_TILES)]
    by_column: list[list[Group]] = [
        [j if i in with_keys[j] else None for j in range(_TILES)] for i in range(_TILES)
    ]
    by_row: list[list[Group]] = [
        [i if j in with_queries[i] else None for j in range(_TILES)] for i in range(_TILES)
    ]
    of_keys = [[_step(with_keys[j], i) for j in range(_TILES)] for i in range(_TILES)]
    of_queries = [[_step(with_queries[i], j) for j in range(_TILES)] for i in range(_TILES)]
    picture = Picture().heading(said[0]).grid(of_keys, by_column, rows=rows, columns=columns)
    picture.note(said[5].format(", ".join(map(str, additions)), _TILES - 1))
    picture.heading(said[1]).grid(of_queries, by_row, rows=rows, columns=columns)
    return picture.note(said[6]).note(said[4]).both()


def _step(tiles: Sequence[int], tile: int) -> str:
    return str(tiles.index(tile) + 1) if tile in tiles else ""


def _traced() -> tuple[list[list[int]], list[list[int]], list[int]]:
    """What tiles of queries each tile of keys meets, what tiles of keys each of queries; additions to dQ."""
    import torch

    from flashpath import vgpu
    from flashpath.kernels.attention.flash_v2.triton import host
    from flashpath.kernels.attention.flash_v2.triton.configs import Config
    from flashpath.kernels.attention.problem import Options, prepare
    from flashpath.vgpu.report.access import Trace

    q, k, v, dout = (torch.zeros(1, _TILE * _TILES, _HEADS, _DIM).bfloat16() for _ in range(4))
    problem = prepare(q, k, v, Options(causal=True))
    out, lse = host.forward(problem)
    tiles = Config(_TILE, _TILE, 4, 2)
    row = _HEADS * _DIM * q.element_size()
    with_keys, with_queries = [[0] * 0] * _TILES, [[0] * 0] * _TILES
    additions = [0] * _TILES
    for block in range(_TILES):
        with vgpu.triton(profile=True, trace=Trace(block=block, requests=1 << 12)) as gpu:
            host.backward(problem, out, lse, dout, adds_dq=True, config=tiles)
            host.backward(problem, out, lse, dout, config=tiles, queries_config=tiles)
        adds, *_, owns = [report for report in gpu.reports if report.kernel != "backward_prepare"]
        with_keys[block] = _tiles(adds, "load", 0, row)
        (own,) = _tiles(owns, "load", 0, row)  # the last queries start first
        with_queries[own] = _tiles(owns, "load", 2, row)
        for tile in _tiles(adds, "atomic", None, _DIM * 4):
            additions[tile] += 1
    return with_keys, with_queries, additions


def _tiles(report: Report, kind: Any, argument: int | None, row_bytes: int) -> list[int]:
    """The tiles of an argument, or of whatever is added to, that the traced block came to."""
    found: set[int] = set()
    for access in report.accesses(kind=kind, space="global"):
        if argument is None or access.argument == argument:
            found |= {
                (each - access.base) // row_bytes // _TILE for each in access.addresses if each is not None
            }
    return sorted(found)


# ---- What is moved and computed ------------------------------------------------------------------------


def counted(lang: str) -> Figure:
    """Each kernel of both backward passes in CUDA C++: bytes, and FLOPs as products of whole matrices."""
    import torch

    import flashpath as fp
    from flashpath.kernels.attention.flash_v2.cuda import host
    from flashpath.kernels.attention.problem import Options, prepare

    n, d = 256, 64
    q = torch.zeros(1, n, 1, d).bfloat16()
    problem = prepare(q, q, q, Options())
    out, lse = host.forward(problem)
    names = {
        "en": ["preprocess", "main", "postprocess", "preprocess", "main", "queries"],
        "zh": ["预处理", "主核函数", "后处理", "预处理", "主核函数", "查询核函数"],
    }[lang]
    columns = {
        "en": ["loaded", "stored", "added", "products"],
        "zh": ["加载", "存储", "累加", "乘积"],
    }[lang]
    titles = {
        "en": ("dQ by additions in memory, KiB", "dQ by a kernel that owns queries, KiB"),
        "zh": ("dQ 在内存里累加，KiB", "dQ 由拥有查询的核函数计算，KiB"),
    }[lang]
    picture = Picture()
    for number, title in enumerate(titles):
        with fp.watch() as reports:
            host.backward(problem, out, lse, q, deterministic=bool(number))
        cells = [
            [
                f"{one.global_load.sectors * 32 / 1024:.0f}",
                f"{one.global_store.sectors * 32 / 1024:.0f}",
                f"{one.global_atomic.bytes / 1024:.0f}",
                f"{one.flops / (2 * n * n * d):.2f}",
            ]
            for one in reports
        ]
        groups: list[list[Group]] = [[0, 0, 3 if float(row[2]) else None, 2] for row in cells]
        rows = names[3 * number : 3 * number + 3]
        picture.grid(cells, groups, rows=rows, columns=columns, title=title)
    return picture.both()


def price(lang: str) -> Figure:
    """Picoseconds for a pair of a query and a key: P written and read, or S computed again; by datasheet."""
    h200 = gpus.gpu("H200")
    bytes_a_second = h200.memory_bandwidth_gb_per_s * 1e9
    flops_a_second = h200.peak_tflops.fp16_tensor * 1e12
    words = {
        "en": ("P written and read", "S again, d = {}"),
        "zh": ("写出再读回 P", "重算 S，d = {}"),
    }[lang]
    moved = 4 / bytes_a_second * 1e12
    bars: list[tuple[str, float, str]] = [(words[0], moved, f"{moved:.2f} ps")]
    for d in (64, 128, 256):
        again = 2 * d / flops_a_second * 1e12
        bars.append((words[1].format(d), again, f"{again:.2f} ps"))
    return Picture().bars(bars).both()


# ---- Measured ------------------------------------------------------------------------------------------

_WHOLE, _TILED = "naive_backward", "flash_v2_triton_backward"


def memory(lang: str) -> Figure:
    """Memory and time of a backward pass by length on an H200: all weights at once, or tile by tile."""
    columns = {
        "en": ["N", "P whole", "time", "P by tiles", "time"],
        "zh": ["N", "整个 P", "时间", "分块的 P", "时间"],
    }[lang]
    nothing = {"en": "out of memory", "zh": "内存不足"}[lang]
    rows: list[list[str]] = []
    for length, case in sorted(_measured().items()):
        cells = [f"{length:,}"]
        for name in (_WHOLE, _TILED):
            record = case[name]
            if record.get("time") is None:
                cells += [nothing, "–"]
                continue
            cells += [_size(record["peak_memory_bytes"]), f"{record['time']['median'] * 1e3:.2f} ms"]
        rows.append(cells)
    groups: list[list[Group]] = [[None, 3, None, 2, None] for _ in rows]
    return Picture().grid(rows, groups, columns=columns).both()


def _size(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def _measured() -> dict[int, dict[str, Any]]:
    """Backward passes with 64 dimensions and no mask, by the length of a sequence and implementation."""
    file = settings.content_dir("benchmarks/results") / "h200.json"
    wanted = {"direction": "backward", "dim": 64, "causal": False}
    found: dict[int, dict[str, Any]] = {}
    for ladder in json.loads(file.read_text(encoding="utf-8"))["ladders"]:
        for case in ladder["cases"] if ladder["ladder"] == "attention" else ():
            if case["parameters"].items() >= wanted.items():
                found[case["parameters"]["sequence"]] = {
                    each["implementation"]: each for each in case["records"]
                }
    return found
