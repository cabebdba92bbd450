"""Figures of the unit on the forward source: owners of scores, the path of v, blocks, a step, masks."""

from __future__ import annotations

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.layout import mma_atom

_ATOM = "SM80_16x8x16_F32F16F16F32_TN"


def owners(lang: str) -> Figure:
    """Draws the lane of each of 16 × 16 scores and the register of P in which it lies, from the atom."""
    atom = mma_atom(_ATOM)
    assert atom.a is not None
    scores, operand = atom.c.owners(), atom.a.owners()
    lanes: list[list[int]] = []
    registers: list[list[Group]] = []
    for row in range(16):
        held = [scores[row][column % 8][0] for column in range(16)]  # two tiles of the result side by side
        lanes.append([lane for lane, _ in held])
        registers.append([column // 8 * 2 + element // 2 for column, (_, element) in enumerate(held)])
        wanted = [operand[row][column][0] for column in range(16)]  # and the same places in the first operand
        assert [(lane, value // 2) for lane, value in wanted] == list(
            zip(lanes[row], registers[row], strict=True)
        )
    said = {
        "en": (
            "16 queries × 16 keys: the lane of each score, and its register of P",
            "P[{}]: {}",
            "row",
            ("left", "right"),
        ),
        "zh": ("16 个查询 × 16 个键：每个分数所在的 lane，以及 P 的寄存器", "P[{}]：{}", "行", ("左", "右")),
    }[lang]
    picture = Picture().grid(
        lanes,
        registers,
        title=str(said[0]),
        rows=[f"{said[2]} {row}" for row in range(16)],
        columns=range(16),
    )
    entries: list[tuple[Group, str]] = [
        (
            register,
            str(said[1]).format(
                register, f"{said[3][register // 2]} {register % 2 * 2}, {register % 2 * 2 + 1}"
            ),
        )
        for register in range(4)
    ]
    return picture.legend(entries).both()


def places(lang: str) -> Figure:
    """Names the tensors of the source by what they hold and where it lies."""
    said = {
        "en": (
            ["global", "shared", "registers", "in the product"],
            ["{}, first", "{}, second", "{}, result"],
        ),
        "zh": (["全局内存", "共享内存", "寄存器", "在乘积中"], ["{}，第一个", "{}，第二个", "{}，结果"]),
    }[lang]
    first, second, result = said[1]
    cells = [
        ["gQ", "sQ", "tSrQ", first.format("Q Kᵀ")],
        ["gK", "sK", "tSrK", second.format("Q Kᵀ")],
        ["", "", "acc_s", result.format("Q Kᵀ")],
        ["", "", "tOrP", first.format("P V")],
        ["gV", "sV, sVt", "tOrVt", second.format("P V")],
        ["gO", "sO (= sQ)", "acc_o", result.format("P V")],
    ]
    groups: list[list[Group]] = [[0, 2, 1, None] for _ in cells]
    for row in (2, 3):
        groups[row][:2] = [None, None]
    return Picture().grid(cells, groups, rows=["Q", "K", "S", "P", "V", "O"], columns=said[0]).both()


def path(lang: str) -> Figure:
    """Shows what a tile of v costs a block of four warps on three ways to fragments, as counted."""
    folder = settings.content_dir("course") / "units/35-flash-source-forward/experiments"
    program = jit.compile(folder / "path.cu")
    v = np.random.default_rng(1).standard_normal((64, 64)).astype(np.float16)
    said = {
        "en": {
            "columns": ["loads", "sectors", "ldmatrix", "passes"],
            "direct": "direct",
            "rows_as_they_are": "shared, rows as they are",
            "swizzled": "shared, swizzled",
            "flow": ["v in global memory", "cp.async, 16 B", "sV, swizzled", "ldmatrix .trans", "registers"],
            "note": "a tile of 64 × 64 halves is 256 sectors; the four warps all need it",
        },
        "zh": {
            "columns": ["加载", "扇区", "ldmatrix", "趟"],
            "direct": "直接",
            "rows_as_they_are": "共享内存，按行存放",
            "swizzled": "共享内存，swizzle",
            "flow": ["全局内存里的 v", "cp.async，16 B", "sV（swizzle）", "ldmatrix .trans", "寄存器"],
            "note": "64 × 64 的 half 分块是 256 个扇区；四个 warp 都要用到它",
        },
    }[lang]
    cells: list[list[str]] = []
    names = ("direct", "rows_as_they_are", "swizzled")
    for name in names:
        out = np.zeros(128, np.uint32)
        report = jit.profile(program[name], grid=(1,), block=(128,), args=(v, out))
        loads, shared = report.global_load, report.shared_load
        numbers = (loads.requests, loads.sectors, shared.requests, shared.wavefronts)
        cells.append([f"{number:,}" for number in numbers])
    groups: list[list[Group]] = [[None, 3, None, None], [None, 2, None, 3], [None, 2, None, 2]]
    picture = Picture().flow([*said["flow"]])
    picture.grid(cells, groups, rows=[said[name] for name in names], columns=said["columns"])
    return picture.note(str(said["note"])).both()


_ROWS, _COLUMNS, _KEYS = 128, 64, 1000  # kBlockM, kBlockN, and as many queries as keys


def _kind(block: int, number: int, left: int | None) -> int:
    """Tells what a block of scores needs: 0 skipped, 1 plain, 2 masked; causal where there is no left end."""
    rows = np.arange(block * _ROWS, min((block + 1) * _ROWS, _KEYS))[:, None]
    keys = np.arange(number * _COLUMNS, (number + 1) * _COLUMNS)
    sees = (keys <= rows) & (keys < _KEYS) & (keys >= rows - (left or _KEYS))
    return 1 if sees.all() else 2 if sees.any() else 0


def _masked_by_source(block: int, left: int | None) -> tuple[int, int, int]:
    """Returns n_block_min, the first block with a mask, and n_block_max, as the source has them."""
    least = 0 if left is None else max(0, block * _ROWS - left) // _COLUMNS
    most = min(-(-_KEYS // _COLUMNS), -(-(block + 1) * _ROWS // _COLUMNS))
    steps = _ROWS // _COLUMNS + 1
    return least, least if left is not None else max(least, most - steps), most


def blocks(lang: str) -> Figure:
    """Draws which blocks the source skips, computes and masks: a causal mask, and a window."""
    said = {
        "en": (
            "causal: n_block_max, and three masked steps",
            "a window of 300 keys to the left: n_block_min too, and a mask everywhere",
            "block {}",
            ("no mask (1)", "a mask, and needed (2)", "a mask, but not needed (2)"),
            "1,000 queries and keys, kBlockM = 128, kBlockN = 64; empty: skipped",
        ),
        "zh": (
            "因果：n_block_max，以及三个带掩码的步骤",
            "左边 300 个键的窗口：还有 n_block_min，每块都加掩码",
            "第 {} 块",
            ("不加掩码（1）", "加掩码，确实需要（2）", "加掩码，其实不需要（2）"),
            "1000 个查询和键，kBlockM = 128，kBlockN = 64；空格：跳过",
        ),
    }[lang]
    picture = Picture()
    for title, left in zip(said[:2], (None, 300), strict=True):
        cells: list[list[str]] = []
        groups: list[list[Group]] = []
        for block in range(-(-_KEYS // _ROWS)):
            least, masked, most = _masked_by_source(block, left)
            colours = [
                0 if number < masked else 1 if _kind(block, number, left) == 2 else 2
                for number in range(least, most)
            ]
            groups.append([*[None] * least, *colours, *[None] * (16 - most)])
            labels = ["1" if colour == 0 else "2" for colour in colours]
            cells.append([*[""] * least, *labels, *[""] * (16 - most)])
        picture.grid(
            cells,
            groups,
            title=str(title),
            rows=[str(said[2]).format(block) for block in range(len(cells))],
            columns=range(16),
        )
    entries: list[tuple[Group, str]] = list(zip((0, 1, 2), said[3], strict=True))
    return picture.legend(entries).note(str(said[4])).both()


def step(lang: str) -> Figure:
    """Draws what lies in the two buffers during a step, and what is on its way."""
    said = {
        "en": (
            ["S = Q Kᵀ", "mask", "softmax", "O += P V"],
            ["on its way", "being read"],
            ["sK", "sV"],
            "two waits, each with a barrier: before Q Kᵀ for K, and after the mask for V",
        ),
        "zh": (
            ["S = Q Kᵀ", "掩码", "softmax", "O += P V"],
            ["在路上", "正在读取"],
            ["sK", "sV"],
            "两次等待，各带一个屏障：Q Kᵀ 之前等 K，掩码之后等 V",
        ),
    }[lang]
    cells = [["K n", "K n", "K n-1", "K n-1"], ["V n", "V n", "V n", "V n"]]
    groups: list[list[Group]] = [[2, None, 0, 0], [0, 0, None, 2]]
    picture = Picture().grid(cells, groups, rows=said[2], columns=said[0])
    entries: list[tuple[Group, str]] = [(0, said[1][0]), (2, said[1][1])]
    return picture.legend(entries).note(said[3]).both()


def counted(lang: str) -> Figure:
    """Counts mma instructions and loaded KiB of our forward kernel on 512 queries and keys, by mask."""
    import torch

    import flashpath as fp
    from flashpath.kernels.attention.flash_v2.cuda import host
    from flashpath.kernels.attention.problem import Options, prepare

    said = {
        "en": (("no mask", "causal", "window of 128"), "{:,} mma, {:,} KiB"),
        "zh": (("无掩码", "因果", "窗口 128"), "{:,} 条 mma，{:,} KiB"),
    }[lang]
    options = (Options(), Options(causal=True), Options(window=(128, 0)))
    q, k, v = (torch.zeros(1, 512, 1, 64).bfloat16() for _ in range(3))
    bars: list[tuple[str, float, str]] = []
    for name, option in zip(said[0], options, strict=True):
        with fp.watch() as reports:
            host.forward(prepare(q, k, v, option))
        products = sum(report.instructions_by_class["tensor core"] for report in reports) // 32
        kibibytes = sum(report.global_load.sectors for report in reports) * 32 // 1024
        bars.append((name, products, said[1].format(products, kibibytes)))
    return Picture().bars(bars).both()
