"""Figures of the unit on flash-attention's backward source: flow, loop, memory, and what was measured."""

from __future__ import annotations

from flashpath import settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_LENGTHS = (256, 512, 1024)
_DIM = 64


def flow(lang: str) -> Figure:
    """Draws what each kernel reads and writes, from what the forward pass saved to the three gradients."""
    said = {
        "en": ("preprocess", "main kernel", "conversion", "softmax_d; zeros in dq_accum"),
        "zh": ("预处理", "主核函数", "转换", "softmax_d；dq_accum 清零"),
    }[lang]
    steps = (
        ("out, dout", said[0], said[3]),
        ("q, k, v, dout, lse, softmax_d", said[1], "dK, dV; dq_accum += dS K"),
        ("dq_accum", said[2], "dQ"),
    )
    picture = Picture()
    for number, boxes in enumerate(steps):
        groups: list[Group] = [None, number, None]
        picture.flow(boxes, groups)
    return picture.both()


def rounds(lang: str) -> Figure:
    """Draws in which round the block of a tile of keys meets each tile of queries, under a causal mask."""
    queries, keys, block_m, block_n = 512, 640, 64, 128
    said = {
        "en": ("m_block", "n_block", "empty: these queries see none of these keys; *: with a mask"),
        "zh": ("m_block", "n_block", "空格：这些查询看不到这些键；*：带掩码"),
    }[lang]
    tiles_m, tiles_n = queries // block_m, keys // block_n
    cells: list[list[str]] = [[""] * tiles_n for _ in range(tiles_m)]
    groups: list[list[Group]] = [[None] * tiles_n for _ in range(tiles_m)]
    for n in range(tiles_n):
        last = max(0, (n * block_n + queries - keys) // block_m)
        for number, m in enumerate(range(tiles_m - 1, last - 1, -1)):
            is_masked = m * block_m < (n + 1) * block_n + queries - keys
            cells[m][n] = f"{number + 1}{'*' if is_masked else ''}"
            groups[m][n] = n
    picture = Picture().grid(
        cells,
        groups,
        rows=[f"{said[0]} {m}" for m in range(tiles_m)],
        columns=[f"{said[1]} {n}" for n in range(tiles_n)],
    )
    return picture.note(said[2]).both()


def shared(lang: str) -> Figure:
    """KiB of shared memory that the tiles of the main kernel take, by head dimension, in 16-bit numbers."""
    columns = ["sQ", "sdO", "sK", "sV", "sdS", "sP"]
    rows: list[list[str]] = []
    names: list[str] = []
    for dim, block_m, block_n, buffers in (
        (64, 128, 128, 2),
        (128, 64, 128, 2),
        (256, 64, 64, 2),
        (256, 64, 64, 1),
    ):
        numbers = [
            buffers * block_m * dim,
            block_m * dim,
            block_n * dim,
            block_n * dim,
            block_m * block_n,
            block_m * block_n,
        ]
        kib = [2 * number // 1024 for number in numbers]
        rows.append([*(str(each) for each in kib), str(sum(kib))])
        names.append(f"d = {dim}, {block_m} × {block_n}")
    total = {"en": "KiB", "zh": "合计 KiB"}[lang]
    groups: list[list[Group]] = [[0, 0, 1, 1, 2, 2, None] for _ in rows]
    return Picture().grid(rows, groups, rows=names, columns=[*columns, total]).both()


def scattered(lang: str) -> Figure:
    """Draws where the first 8 × 8 elements of a tile of dQ lie in dq_accum, as warp 0 adds them.

    A lane of mma has row lane / 4 and columns 2 (lane % 4) and the next one. Its number i goes to row 8 i and
    column lane: threads are (8, 32) there, one number each.
    """
    cells = [[f"{8 * (c % 2)}, {4 * r + c // 2}" for c in range(8)] for r in range(8)]
    groups: list[list[Group]] = [[c % 2 for c in range(8)] for _ in range(8)]
    said = {
        "en": ("row {}", "col {}", "row 0 of dq_accum", "row 8"),
        "zh": ("行 {}", "列 {}", "dq_accum 的第 0 行", "第 8 行"),
    }[lang]
    picture = Picture().grid(
        cells,
        groups,
        rows=[said[0].format(r) for r in range(8)],
        columns=[said[1].format(c) for c in range(8)],
    )
    return picture.legend([(0, said[2]), (1, said[3])]).both()


def counted(lang: str) -> Figure:
    """KiB that our main kernel asks of memory for one head, beside the weights that nobody stores."""
    import torch

    import flashpath as fp
    from flashpath.kernels.attention.flash_v2.cuda import host
    from flashpath.kernels.attention.problem import Options, prepare

    said = {"en": ("loaded", "added to dQ", "P, in 16 bits"), "zh": ("加载", "加到 dQ", "P，16 位")}[lang]
    bars: list[tuple[str, float, str]] = []
    for n in _LENGTHS:
        q, k, v, dout = (torch.zeros(1, n, 1, _DIM, dtype=torch.bfloat16) for _ in range(4))
        problem = prepare(q, k, v, Options())
        out, lse = host.forward(problem)
        with fp.watch() as reports:
            host.backward(problem, out, lse, dout)
        main = reports[1]
        moved = (main.global_load.bytes, main.global_atomic.bytes, 2 * n * n)
        for word, bytes_ in zip(said, moved, strict=True):
            bars.append((f"n = {n}, {word}", bytes_ / 1024, f"{bytes_ / 1024:,.0f} KiB"))
    return Picture().bars(bars).both()


def measured(lang: str) -> Figure:
    """A step of training on an H200, naive attention and the fastest rungs: time and memory by length."""
    from flashpath.bench.beside_naive import beside_naive
    from flashpath.bench.record_files import load_runs
    from flashpath.bench.report import newest

    records = load_runs(settings.content_dir("benchmarks/results"))
    here = newest(
        [each for each in records if each.ladder == "attention" and "H200" in str(each.environment.gpu)]
    )
    said = {
        "en": ("tokens", "naive, ms", "rungs, ms", "naive, GiB", "rungs, GiB", "out of memory"),
        "zh": ("token 数", "朴素，ms", "梯级，ms", "朴素，GiB", "梯级，GiB", "内存不够"),
    }[lang]
    rows: list[list[str]] = []
    for row in beside_naive([each for each in here if each.parameters.get("dim") == _DIM]):
        if row.direction != "both" or " full " not in row.problem:
            continue
        assert row.bytes is not None
        naive = f"{row.naive_seconds * 1e3:.1f}" if row.naive_seconds else said[5]
        memory = f"{row.naive_bytes / 2**30:.1f}" if row.naive_bytes and row.naive_seconds else "–"
        rows.append(
            [f"{row.sequence:,}", naive, f"{row.seconds * 1e3:.2f}", memory, f"{row.bytes / 2**30:.2f}"]
        )
    groups: list[list[Group]] = [[None, 3, 2, 3, 2] for _ in rows]
    return Picture().grid(rows, groups, columns=list(said[:5])).both()
