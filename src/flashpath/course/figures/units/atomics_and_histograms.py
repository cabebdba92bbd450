"""Figures of the unit on atomics: which lanes meet, what copies and matches save, in which order sums come.

What is drawn is counted in launches of the unit's experiments on the virtual GPU, or read from the records.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.jit.virtual import prepared, ready
from flashpath.vgpu.options import Options

_FEW = 8  # lanes in the drawings of a warp


@functools.cache
def _module(file: str, *names: str) -> Any:
    """Returns the kernels of one of the unit's experiments, by name."""
    path = settings.content_dir("course") / "units/08-atomics-and-histograms/experiments" / file
    return jit.compile(path.read_text(encoding="utf-8"), name_expressions=list(names))


# ---- Who meets -----------------------------------------------------------------------------------------

_ADD = """
__global__ void add(const int* bins, int* counts, int* turn) {
  turn[threadIdx.x] = atomicAdd(&counts[bins[threadIdx.x]], 1);
}
"""
_WARPS = {"different": (5, 2, 7, 0, 3, 6, 1, 4), "some": (5, 2, 5, 0, 5, 2, 1, 4), "equal": (5,) * _FEW}


def turns(lang: str) -> Figure:
    """Eight lanes add to bins: in which turn each comes, for bins that differ and bins that do not."""
    lane, bin_row, turn_row = {"en": ("lane", "bin", "turn"), "zh": ("lane", "桶", "轮")}[lang]
    titles = {
        "en": ("all bins differ: {} turn", "some are the same: {} turns", "all are the same: {} turns"),
        "zh": ("各不相同：{} 轮", "有些相同：{} 轮", "全部相同：{} 轮"),
    }[lang]
    kernel = jit.compile(_ADD, name_expressions=["add"])["add"]
    picture = Picture()
    for title, bins in zip(titles, _WARPS.values(), strict=True):
        came = np.zeros(_FEW, np.int32)
        arguments = (np.array(bins, np.int32), np.zeros(_FEW, np.int32), came)
        report = jit.profile(kernel, grid=(1,), block=(_FEW,), args=arguments)
        order = [int(each) + 1 for each in came]
        groups: list[list[Group]] = [[None] * _FEW, [each - 1 for each in order]]
        picture.grid(
            [bins, order],
            groups,
            title=title.format(report.atomics.turns),
            rows=[bin_row, turn_row],
            columns=[f"{lane} {k}" for k in range(_FEW)],
        )
    return picture.both()


_MATCH = """
__global__ void match(const int* keys, unsigned* same) {
  same[threadIdx.x] = __match_any_sync(0xff, keys[threadIdx.x]);
}
"""


def match(lang: str) -> Figure:
    """Eight lanes find those with the same key; the lowest of each key adds for all of them."""
    lane, key, same_row, leader_row, adds = {
        "en": ("lane", "key", "same", "leader", "adds"),
        "zh": ("lane", "键", "same", "领头", "加上"),
    }[lang]
    keys = np.array(_WARPS["some"], np.int32)
    masks = np.zeros(_FEW, np.uint32)
    jit.compile(_MATCH, name_expressions=["match"])["match"].launch((1,), (_FEW,), (keys, masks))
    words = [int(each) for each in masks]
    leaders = [(word & -word).bit_length() - 1 for word in words]
    added = [f"+{word.bit_count()}" if leaders[k] == k else "" for k, word in enumerate(words)]
    kinds = sorted(set(leaders))
    colours: list[Group] = [kinds.index(each) for each in leaders]
    cells = [keys.tolist(), [f"{word:08b}" for word in words], leaders, added]
    rows = [key, same_row, leader_row, adds]
    columns = [f"{lane} {k}" for k in range(_FEW)]
    return Picture().grid(cells, [colours] * 4, rows=rows, columns=columns).both()


# ---- What it costs -------------------------------------------------------------------------------------

_COUNTED = 16384
_KERNELS = ("straight", "per_block", "per_warp", "joined")


def _data() -> dict[str, np.ndarray]:
    random = np.random.default_rng(8)
    return {
        "uniform": random.random(_COUNTED, np.float32),
        "normal": np.clip(random.normal(0.5, 0.04, _COUNTED), 0, 1).astype(np.float32),
        "equal": np.full(_COUNTED, 0.3, np.float32),
    }


def meetings(lang: str) -> Figure:
    """Turns of atomics in global and in shared memory, for three kinds of data and four kernels."""
    title = {
        "en": "turns in global memory + turns in shared memory, 16,384 numbers, 8 blocks",
        "zh": "全局内存的轮数 + 共享内存的轮数（16384 个数，8 个线程块）",
    }[lang]
    columns = {"en": ["uniform", "normal", "equal"], "zh": ["均匀", "正态", "全部相同"]}[lang]
    module = _module("histograms.cu", *_KERNELS)
    cells: list[list[str]] = []
    for name in _KERNELS:
        row: list[str] = []
        for x in _data().values():
            arguments = (_COUNTED, x, np.zeros(128, np.int32))
            report = jit.profile(module[name], grid=(8,), block=(256,), args=arguments)
            in_global = report.atomics.turns
            if report.shared_atomic.requests:
                in_global = report.global_atomic.requests  # neighbours: a turn each
            row.append(f"{in_global:,} + {report.atomics.turns - in_global:,}")
        cells.append(row)
    groups: list[list[Group]] = [[k] * 3 for k in range(len(_KERNELS))]
    return Picture().grid(cells, groups, title=title, rows=_KERNELS, columns=columns).both()


def speed(lang: str) -> Figure:
    """Histograms of 2^26 floats in 256 bins on an H200, from the records."""
    from flashpath.bench.record_files import load_runs

    said = {
        "en": {"uniform": "random values, µs", "equal": "equal values, µs"},
        "zh": {"uniform": "随机值，µs", "equal": "相同的值，µs"},
    }[lang]
    records = [
        each
        for each in load_runs(settings.content_dir("benchmarks/results"))
        if "H200" in str(each.environment.gpu) and each.ladder == "histogram"
    ]
    picture = Picture()
    for data, title in said.items():
        wanted = {"data": data, "n": 1 << 26, "bins": 256, "dtype": "float32"}
        times = {
            each.implementation: each.time.median * 1e6
            for each in records
            if each.parameters == wanted and each.time is not None
        }
        names = ("global_atomics", "torch.histc", "aggregated", "shared", "per_warp", "vectorized")
        picture.heading(title).bars([(name, times[name], f"{times[name]:,.0f}") for name in names])
    return picture.both()


# ---- Order ---------------------------------------------------------------------------------------------

_SUMMED = 1024
_SEEDS = range(1, 7)


def orders(lang: str) -> Figure:
    """The sum of the same floats by atomics, under six schedules, and the sum of their units of 2^-20."""
    schedule, floats, units = {
        "en": ("schedule {}", "floats", "units of 2⁻²⁰"),
        "zh": ("调度 {}", "浮点数", "2⁻²⁰ 的倍数"),
    }[lang]
    module = _module("orders.cu", "sum", "sum_of_units")
    x = np.random.default_rng(8).normal(0, 1, _SUMMED).astype(np.float32)
    found: dict[str, list[str]] = {"sum": [], "sum_of_units": []}
    for name, sums in found.items():
        for seed in _SEEDS:
            total = np.zeros(1, np.float32 if name == "sum" else np.uint64)
            args = (_SUMMED, x, total)
            shape, gpu = prepared("fp.launch", module[name], (_SUMMED // 32,), (32,), args, None, 0, False)
            ready(module[name], shape, args, gpu).run(Options(seed=seed))
            value = float(total[0]) if name == "sum" else int(total.view(np.int64)[0]) / 2**20
            sums.append(f"{value:.9g}")
    groups: list[list[Group]] = [[sorted(set(sums)).index(each) for each in sums] for sums in found.values()]
    cells = [list(row) for row in zip(*found.values(), strict=True)]
    by_row: list[list[Group]] = [list(row) for row in zip(*groups, strict=True)]
    rows = [schedule.format(seed) for seed in _SEEDS]
    return Picture().grid(cells, by_row, rows=rows, columns=[floats, units]).both()
