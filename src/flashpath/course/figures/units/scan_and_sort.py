"""Figures of the unit on scans and sorts: steps, a look-back, a radix pass, what they cost.

What a kernel does step by step is recorded from kernels of the unit's exercises, which run on the virtual GPU
with a store more in each step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.jit.virtual import prepared, ready
from flashpath.vgpu.options import Options

_FEW = 8  # elements in the drawings of steps
_X = (3, 1, 7, 0, 4, 1, 6, 3)


def _kernel(file: str, name: str, edits: Sequence[tuple[str, str]] = ()) -> Any:
    """Returns a kernel of an exercise; each edit replaces a text that is there exactly once."""
    path = settings.content_dir("course") / "units/07-scan-and-sort/exercises" / file
    source = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert source.count(old) == 1, f"{old!r} in {file}"
        source = source.replace(old, new)
    return jit.compile(source, name_expressions=[name])[name]


def _recorded(kernel: Any, threads: int, steps: int) -> list[list[int]]:
    """Runs a kernel of one block that stores its elements after each step, behind its result in `out`."""
    out = np.zeros((1 + steps) * _FEW, np.float32)
    kernel.launch((1,), (threads,), (np.array(_X, np.float32), out))
    return [[int(each) for each in row] for row in out.reshape(1 + steps, _FEW)[1:]]


# ---- Scans, step by step -------------------------------------------------------------------------------


def doubling(lang: str) -> Figure:
    """The running sums of eight numbers in three steps; colours tell the step that made a number."""
    word = {"en": "distance", "zh": "距离"}[lang]
    store = "now = 1 - now;\n    sums[now][t] = sum;\n", "out[blockDim.x * step++ + t] = sum;\n"
    edits = [("int now = 0;", "int now = 0, step = 1;"), (store[0], store[0] + store[1])]
    rows = _recorded(_kernel("work-and-span/doubling.cu", "doubling", edits), _FEW, 3)
    picture = Picture().grid([_X], [[0] * _FEW], columns=range(_FEW), title="x")
    made: list[Group] = [0] * _FEW
    for number, row in enumerate(rows):
        distance = 1 << number
        made = [number + 1 if i >= distance else made[i] for i in range(_FEW)]
        pairs = [(i - distance, i) for i in range(distance, _FEW)]
        picture.links(pairs).grid([row], [made], title=f"{word} {distance}")
    return picture.both()


_STORE = """
    __syncthreads();
    out[n * step + t] = {array}[t];
    out[n * step++ + t + blockDim.x] = {array}[t + blockDim.x];
    __syncthreads();
"""


def tree(lang: str) -> Figure:
    """The tree of eight numbers, level by level, up and down; what a level changes is coloured."""
    up, root, down = {"en": ("up", "root", "down"), "zh": ("上行", "根", "下行")}[lang]
    store = _STORE.format(array="sums")
    ends = [
        "sums[node] = sums[node - stride] + sums[node];\n    }\n",
        "sums[n - 1] = 0.0f;\n  }\n",
        "sums[node] = before + of_left;\n    }\n",
    ]
    edits = [("n = 2 * blockDim.x;", "n = 2 * blockDim.x;\n  int step = 1;"), *((e, e + store) for e in ends)]
    rows = _recorded(_kernel("work-and-span/tree.cu", "tree", edits), _FEW // 2, 7)
    labels = [*(f"{up} {s}" for s in (1, 2, 4)), root, *(f"{down} {s}" for s in (4, 2, 1))]
    colours = [1, 1, 1, 3, 2, 2, 2]
    groups: list[list[Group]] = [[None] * _FEW]
    for number, colour in enumerate(colours):
        stride = (1, 2, 4, 8, 4, 2, 1)[number]
        touched = set(range(2 * stride - 1, _FEW, 2 * stride)) if number != 3 else {_FEW - 1}
        if number > 3:
            touched |= set(range(stride - 1, _FEW, 2 * stride))
        groups.append([colour if i in touched else None for i in range(_FEW)])
    return Picture().grid([_X, *rows], groups, rows=["x", *labels], columns=range(_FEW)).both()


def network(lang: str) -> Figure:
    """Eight keys in the six steps of a bitonic network; colours tell runs that rise from those that fall."""
    run_word, rises, falls = {
        "en": ("run {}, stride {}", "the run rises", "the run falls"),
        "zh": ("段长 {}，stride {}", "升序的段", "降序的段"),
    }[lang]
    end = "keys[high] = first;\n      }\n"
    edits = [
        ("n = 2 * blockDim.x;", "n = 2 * blockDim.x;\n  int step = 1;"),
        (end, end + _STORE.format(array="keys")),
    ]
    rows = _recorded(_kernel("network/network.cu", "network", edits), _FEW // 2, 6)
    steps = [(run, run >> k) for run in (2, 4, 8) for k in range(1, run.bit_length())]
    groups: list[list[Group]] = [[None] * _FEW]
    for run, _ in steps:
        groups.append([1 if i & run else 0 for i in range(_FEW)])
    labels = ["x", *(run_word.format(run, stride) for run, stride in steps)]
    picture = Picture().grid([_X, *rows], groups, rows=labels, columns=range(_FEW))
    return picture.legend([(0, rises), (1, falls)]).both()


# ---- What they cost ------------------------------------------------------------------------------------

_SCANNED = 256


def cost(lang: str) -> Figure:
    """What the three scans of the exercise count for 256 numbers, on the virtual GPU."""
    columns = {
        "en": ["additions", "barriers", "shared passes", "conflicts", "warp instructions"],
        "zh": ["加法", "屏障", "共享内存趟数", "冲突", "warp 指令"],
    }[lang]
    names = ("doubling", "tree", "shuffled")
    cells: list[list[str]] = []
    for name in names:
        threads = _SCANNED // 2 if name == "tree" else _SCANNED
        arrays = np.ones(_SCANNED, np.float32), np.zeros(_SCANNED, np.float32)
        kernel = _kernel(f"work-and-span/{name}.cu", name)
        report = jit.profile(kernel, grid=(1,), block=(threads,), args=arrays)
        counts = (
            report.flops,
            report.instructions_by_class["barrier"] // threads,
            report.shared_load.wavefronts + report.shared_store.wavefronts,
            report.bank_conflicts,
            report.warp_instructions,
        )
        cells.append([f"{each:,}" for each in counts])
    groups: list[list[Group]] = [[0, 1, 2, 3, None]] * len(names)
    return Picture().grid(cells, groups, rows=names, columns=columns).both()


def speed(lang: str) -> Figure:
    """Scans and sorts of 2^28 floats on an H200, from the records."""
    from flashpath.bench.record_files import load_runs

    scan, sort = {
        "en": ("running sums of 2²⁸ floats, ms", "2²⁸ floats sorted, ms"),
        "zh": ("2²⁸ 个 float 的前缀和，ms", "2²⁸ 个 float 排序，ms"),
    }[lang]
    records = [
        each
        for each in load_runs(settings.content_dir("benchmarks/results"))
        if "H200" in str(each.environment.gpu)
    ]
    scans = {"op": "sum", "shape": [1 << 28], "dtype": "float32", "exclusive": False, "segmented": False}
    sorts = {"n": 1 << 28, "dtype": "float32", "return_indices": False}
    picture = Picture()
    for title, ladder, parameters, names in (
        (
            scan,
            "scan",
            scans,
            ("hillis_steele", "blelloch", "blelloch_padded", "warp", "decoupled_lookback", "lookahead"),
        ),
        (sort, "sort", sorts, ("bitonic", "radix", "radix_tiled", "onesweep")),
    ):
        times = {
            each.implementation: each.time.median * 1e3
            for each in records
            if each.ladder == ladder and each.parameters == parameters and each.time is not None
        }
        picture.heading(title).bars([(name, times[name], f"{times[name]:.2f}") for name in names])
    return picture.both()


# ---- One pass ------------------------------------------------------------------------------------------

_TILES = 8
_SEED = 13  # of the schedule that is drawn: one in which tiles run side by side


def look_back(lang: str) -> Figure:
    """What each tile met where it looked, when the blocks of the exercise ran side by side."""
    tile, total, prefix = {
        "en": ("tile {}", "total", "prefix"),
        "zh": ("分块 {}", "总和", "前缀"),
    }[lang]
    met = "before += sum_of(word);"
    edits = [
        ("int* ticket, int* out)", "int* ticket, int* out, int* met)"),
        (met, f"{met}\n      met[tile * gridDim.x + other] = (int)state_of(word);"),
    ]
    kernel = _kernel("look-back/solution.cu", "look_back", edits)
    n = _TILES * 256
    seen = np.zeros(_TILES * _TILES, np.int32)
    args = (
        n,
        np.ones(n, np.int32),
        np.zeros(_TILES, np.int64),
        np.zeros(1, np.int32),
        np.zeros(n, np.int32),
        seen,
    )
    shape, gpu = prepared("fp.launch", kernel, (_TILES,), (256,), args, None, 0, False)
    ready(kernel, shape, args, gpu).run(Options(seed=_SEED))
    table: list[list[int]] = seen.reshape(_TILES, _TILES).tolist()
    cells = [[("", total, prefix)[state] for state in states] for states in table]
    groups: list[list[Group]] = [[state - 1 if state else None for state in states] for states in table]
    labels = [tile.format(i) for i in range(_TILES)]
    return Picture().grid(cells, groups, rows=labels, columns=range(_TILES)).both()


# ---- A radix pass --------------------------------------------------------------------------------------

_KEYS = np.array([13, 6, 1, 7, 4, 12, 9, 2, 5, 15, 0, 10])
_PIECES = 3


def radix_pass(lang: str) -> Figure:
    """Twelve keys sorted by their lowest two bits: counted by piece, scanned digit by digit, scattered."""
    keys, count, place, out, piece, digit = {
        "en": (
            "keys, in three pieces; their digit under them",
            "count",
            "scan",
            "scattered",
            "piece",
            "digit",
        ),
        "zh": ("键，分成三段；下面是各自的数字", "计数", "扫描", "散写", "段", "数字"),
    }[lang]
    digits = _KEYS & 3
    pieces = np.arange(len(_KEYS)) // (len(_KEYS) // _PIECES)
    counts = np.zeros((4, _PIECES), int)
    np.add.at(counts, (digits, pieces), 1)
    places = (np.cumsum(counts) - counts.ravel()).reshape(counts.shape)
    order = np.argsort(digits, kind="stable")
    by_digit: list[list[Group]] = [[d] * _PIECES for d in range(4)]
    maps = [
        Picture().grid(each.tolist(), by_digit, title=title, rows=[f"{digit} {d}" for d in range(4)],
                       columns=[f"{piece} {p}" for p in range(_PIECES)])
        for title, each in ((count, counts), (place, places))
    ]  # fmt: skip
    colours: list[Group] = [int(d) for d in digits]
    picture = Picture().grid([_KEYS.tolist(), digits.tolist()], [colours, colours], title=keys)
    picture.side_by_side(*maps)
    sorted_by = [int(d) for d in digits[order]]
    rows = [_KEYS[order].tolist(), sorted_by]
    return picture.grid(rows, [sorted_by, sorted_by], title=out, columns=range(len(_KEYS))).both()
