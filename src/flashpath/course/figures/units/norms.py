"""Figures of the unit on norms: lanes that exchange, warps that meet, moments that merge, lost digits, speed.

What a kernel does step by step is recorded from kernels of the unit, which run on the virtual GPU with a
store more in each step.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_FEW = 8  # lanes in the drawings
_X = (1, 2, 3, 4, 5, 6, 7, 8)
_ROW = (4, 8, 6, 2, 5, 9, 7, 7)
_DISTANCES = (4, 2, 1)


def _source(file: str) -> str:
    return (settings.content_dir("course") / "units/15-norms" / file).read_text(encoding="utf-8")


def _kernel(source: str, name: str, edits: Sequence[tuple[str, str]] = ()) -> Any:
    """Returns a kernel of the source; each edit replaces a text that is there exactly once."""
    for old, new in edits:
        assert source.count(old) == 1, f"{old!r} in {name}"
        source = source.replace(old, new)
    return jit.compile(source, name_expressions=[name])[name]


# ---- Lanes and warps -----------------------------------------------------------------------------------


def exchange(lang: str) -> Figure:
    """The squares of eight elements, summed by exchanges: every lane ends with the total."""
    squares, distance = {"en": ("squares", "distance"), "zh": ("平方", "距离")}[lang]
    step = "squares += __shfl_xor_sync(0xffffffff, squares, distance);\n"
    edits = [
        ("float eps, float* out)", "float eps, float* out, float* steps)"),
        (step, f"{step}    if (distance <= 4 && lane < 8) steps[8 * (distance / 2) + lane] = squares;\n"),
    ]
    kernel = _kernel(_source("exercises/row-in-a-warp/solution.cu"), "warp_norm", edits)
    x, steps = np.array(_X, np.float32), np.zeros(3 * _FEW, np.float32)
    arguments = 1, _FEW, x, np.ones(_FEW, np.float32), np.float32(1e-5), np.zeros(_FEW, np.float32), steps
    kernel.launch((1,), (128,), arguments)
    picture = Picture().grid([[v * v for v in _X]], [[0] * _FEW], columns=range(_FEW), title=squares)
    for colour, each in enumerate(_DISTANCES, 1):
        row = [int(v) for v in steps[_FEW * (each // 2) :][:_FEW]]
        pairs = [(lane ^ each, lane) for lane in range(_FEW)]
        picture.links(pairs).grid([row], [[colour] * _FEW], title=f"{distance} {each}")
    return picture.both()


def across(lang: str) -> Figure:
    """The sums of six warps, which meet in the first and come back to all; recorded from a launch."""
    stored, met, told, warp = {
        "en": (
            "each warp stores its sum; then a barrier",
            "the first warp adds up what lies there, and stores the total; then a barrier",
            "each warp reads the total",
            "warp {}",
        ),
        "zh": (
            "每个 warp 存下自己的和；然后是屏障",
            "第一个 warp 把它们加起来，存下总和；然后是屏障",
            "每个 warp 读到总和",
            "warp {}",
        ),
    }[lang]
    warps, threads = 6, 192
    edits = [
        ("float eps, float* out)", "float eps, float* out, float* seen)"),
        ("    of_warp[warp] = squares;\n", "    of_warp[warp] = squares;\n    seen[warp] = squares;\n"),
        ("      of_warp[0] = squares;\n", "      of_warp[0] = squares;\n      seen[6] = squares;\n"),
        ("__syncthreads();\n\n", "__syncthreads();\n  seen[7 + warp] = of_warp[0];\n\n"),
    ]
    kernel = _kernel(_source("exercises/across-warps/solution.cu"), "block_norm", edits)
    x = np.repeat(np.arange(1, warps + 1), 32).astype(np.float32)
    seen = np.zeros(7 + warps, np.float32)
    weight, out = np.ones(threads, np.float32), np.zeros(threads, np.float32)
    kernel.launch((1,), (threads,), (threads, x, weight, np.float32(1e-5), out, seen))
    numbers = [int(v) for v in seen]
    names = [warp.format(w) for w in range(warps)]
    picture = Picture().grid([numbers[:warps]], [[0] * warps], columns=names, title=stored)
    picture.links([(w, 0) for w in range(warps)]).grid([numbers[warps : warps + 1]], [[2]], title=met)
    picture.links([(0, w) for w in range(warps)])
    return picture.grid([numbers[warps + 1 :]], [[2] * warps], title=told).both()


# ---- Moments -------------------------------------------------------------------------------------------


def states(lang: str) -> Figure:
    """Count, mean and M2 of eight lanes that merge by shuffles, recorded from a launch."""
    first, distance, labels = {
        "en": ("one element a lane", "distance", ("count", "mean", "M2")),
        "zh": ("每个 lane 一个元素", "距离", ("个数", "均值", "M2")),
    }[lang]
    shuffled = "    merge(own, other);\n"
    store = """    if (distance <= 4 && threadIdx.x < 8) {
      float* here = steps + 24 * (distance / 2) + threadIdx.x;
      here[0] = own.count, here[8] = own.mean, here[16] = own.m2;
    }
"""
    edits = [
        ("float eps, float* out)", "float eps, float* out, float* steps)"),
        (shuffled, shuffled + store),
    ]
    kernel = _kernel(_source("exercises/one-walk/solution.cu"), "layer_norm", edits)
    row, steps = np.array(_ROW, np.float32), np.zeros(3 * 3 * _FEW, np.float32)
    ones, zeros, out = np.ones(_FEW, np.float32), np.zeros(_FEW, np.float32), np.zeros(_FEW, np.float32)
    kernel.launch((1,), (256,), (_FEW, row, ones, zeros, np.float32(1e-5), out, steps))
    picture = Picture().grid(
        [[1] * _FEW, list(_ROW), [0] * _FEW], [[0] * _FEW] * 3, rows=labels, columns=range(_FEW), title=first
    )
    for colour, each in enumerate(_DISTANCES, 1):
        table = steps[24 * (each // 2) :][:24].reshape(3, _FEW)
        cells = [[f"{v:.4g}" if lane < each else "–" for lane, v in enumerate(kind)] for kind in table]
        groups: list[list[Group]] = [[colour if lane < each else None for lane in range(_FEW)]] * 3
        picture.grid(cells, groups, rows=labels, title=f"{distance} {each}")
    return picture.both()


_LENGTH = 4096


def digits(lang: str) -> Figure:
    """Decimal digits of the variance that are right, by two formulas in float32, on the virtual GPU."""
    title, naive, distances, mean = {
        "en": ("right digits of the variance, spread 1", "squares less square", "distances", "mean {}"),
        "zh": ("方差的正确位数，离散程度为 1", "平方的平均减平均的平方", "到平均的距离", "平均 {}"),
    }[lang]
    text = _source("experiments/digits.cu")
    kernel = _kernel(text[text.index("constexpr") : text.index("int main")], "variances")
    spread = np.random.default_rng(1).standard_normal(_LENGTH)
    bars: list[list[tuple[str, float, str]]] = [[], []]
    for centre in (0, 10, 100, 1000, 10000):
        x, out = (centre + spread).astype(np.float32), np.zeros(2, np.float32)
        kernel.launch((1,), (256,), (_LENGTH, x, out))
        truth = x.astype(np.float64).var()
        for formula, value in zip(bars, out, strict=True):
            error = max(abs(float(value) / truth - 1), 2.0**-24)
            right = max(-math.log10(error), 0)
            formula.append((mean.format(centre), right, f"{right:.1f}"))
    picture = Picture().heading(title)
    for name, formula in zip((naive, distances), bars, strict=True):
        picture.note(name).bars(formula)
    return picture.both()


# ---- Speed ---------------------------------------------------------------------------------------------


def speed(lang: str) -> Figure:
    """Norms of 32768 rows of 4096 in bf16 on an H200, from the records."""
    from flashpath.bench.record_files import load_runs

    layer, rms, add = {
        "en": ("LayerNorm, µs", "RMSNorm, µs", "addition and RMSNorm, µs"),
        "zh": ("LayerNorm，µs", "RMSNorm，µs", "加法与 RMSNorm，µs"),
    }[lang]
    records = [
        each
        for each in load_runs(settings.content_dir("benchmarks/results"))
        if "H200" in str(each.environment.gpu)
    ]
    picture = Picture()
    for title, ladder, operation, names in (
        (layer, "layer_norm", "forward", ("torch", "two_pass", "welford", "vectorized")),
        (rms, "rms_norm", "forward", ("torch", "two_pass", "vectorized")),
        (add, "rms_norm", "add", ("torch", "fused_residual")),
    ):
        problem = {"operation": operation, "shape": [32768, 4096], "dtype": "bfloat16"}
        times = {
            each.implementation: each.time.median * 1e6
            for each in records
            if each.ladder == ladder and each.parameters == problem and each.time is not None
        }
        picture.heading(title).bars([(name, times[name], f"{times[name]:.0f}") for name in names])
    return picture.both()
