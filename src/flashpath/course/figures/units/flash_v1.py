"""Figures of the unit on FlashAttention 1: the order of the tiles, its traffic by formula, and as counted."""

from __future__ import annotations

from flashpath.course.figures.drawing import Figure, Group, Picture

_D = 64


def loops(lang: str) -> Figure:
    """Draws in which step each pair of tiles is computed: keys outside, a causal mask, square tiles."""
    tiles = 6
    step = 0
    cells: list[list[str]] = [[""] * tiles for _ in range(tiles)]
    groups: list[list[Group]] = [[None] * tiles for _ in range(tiles)]
    for j in range(tiles):
        for i in range(j, tiles):
            step += 1
            cells[i][j] = f"{step}*" if i == j else str(step)
            groups[i][j] = j
    said = {
        "en": ("Q tile", "K tile", "empty: seen by no query, left out; *: on the diagonal, with a mask"),
        "zh": ("Q 块", "K 块", "空格：没有查询看得到，跳过；*：在对角线上，要掩码"),
    }[lang]
    picture = Picture().grid(
        cells,
        groups,
        rows=[f"{said[0]} {i}" for i in range(tiles)],
        columns=[f"{said[1]} {j}" for j in range(tiles)],
    )
    return picture.note(said[2]).both()


def _flash(n: int, m: int) -> int:
    """Numbers that algorithm 1 moves, with an SRAM of m numbers."""
    blocks = -(-n // -(-m // (4 * _D)))
    return 3 * n * _D + 2 * n + blocks * (3 * n * _D + 4 * n)


def _standard(n: int) -> int:
    return 4 * n * n + 4 * n * _D


def sram(lang: str) -> Figure:
    """The traffic of algorithm 1 over that of algorithm 0, by the size of the SRAM."""
    n = 4096
    word = {"en": "{} Ki numbers, B_c = {}", "zh": "{} Ki 个数，B_c = {}"}[lang]
    bars: list[tuple[str, float, str]] = []
    for kibi in (2, 4, 8, 16, 32, 64, 128):
        share = _flash(n, 1024 * kibi) / _standard(n)
        bars.append((word.format(kibi, -(-1024 * kibi // (4 * _D))), share, f"{share:.2f}"))
    return Picture().bars(bars).both()


def memory(lang: str) -> Figure:
    """MiB of one head beyond its inputs and output, by length: S and P in 16 bits, or m and l in 32."""
    columns = {
        "en": ["N", "S and P, MiB", "m and l, MiB", "ratio"],
        "zh": ["N", "S 与 P，MiB", "m 与 l，MiB", "倍数"],
    }[lang]
    rows: list[list[str]] = []
    for n in (1024, 4096, 16384, 65536):
        scores, state = 2 * n * n * 2, 2 * n * 4
        rows.append([f"{n:,}", f"{scores / 2**20:,.0f}", f"{state / 2**20:.3f}", f"{scores // state:,}"])
    groups: list[list[Group]] = [[None, 3, 2, None] for _ in rows]
    return Picture().grid(rows, groups, columns=columns).both()


def counted() -> Figure:
    """Bytes that three rungs ask of memory for one head of 256 queries and keys, as counted."""
    import torch

    import flashpath as fp
    from flashpath.kernels.attention.first_rungs import unfused
    from flashpath.kernels.attention.flash_v1 import host as flash_v1
    from flashpath.kernels.attention.problem import Options, prepare

    q, k, v = (torch.zeros(1, 256, 1, _D).bfloat16() for _ in range(3))
    problem = prepare(q, k, v, Options())
    bars: list[tuple[str, float, str]] = []
    for name, run in (
        ("unfused", unfused.forward),
        ("flash_v1_triton", flash_v1.triton),
        ("flash_v1_cuda", flash_v1.cuda),
    ):
        with fp.watch() as reports:
            run(problem)
        loaded = round(sum(report.global_load.sectors for report in reports) * 32 / 1024)
        stored = round(sum(report.global_store.sectors for report in reports) * 32 / 1024)
        bars.append((name, loaded + stored, f"{loaded + stored} KiB: {loaded} + {stored}"))
    return Picture().bars(bars).both()
