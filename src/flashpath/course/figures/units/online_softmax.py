"""Figures of the unit on online softmax: the state by block, lanes that merge, passes, sums in 16 bits."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture
from flashpath.course.grader.dtypes import Array

_State = tuple[float, float]  # m, l
_EMPTY: _State = (-math.inf, 0.0)


def state(lang: str) -> Figure:
    """The state of a row over four blocks of two keys, the first of them masked; values are numbers."""
    scores = [(-math.inf, -math.inf), (1.0, 3.0), (2.0, 0.0), (5.0, 4.0)]
    values = [(4.0, 8.0), (2.0, 6.0), (4.0, 2.0), (10.0, 8.0)]
    m, total, o = -math.inf, 0.0, 0.0
    rows: list[list[str]] = []
    for s, v in zip(scores, values, strict=True):
        larger = max(m, *s)
        base = 0.0 if larger == -math.inf else larger
        alpha = math.exp(m - base)
        weights = [math.exp(score - base) for score in s]
        total = total * alpha + sum(weights)
        o = o * alpha + sum(weight * value for weight, value in zip(weights, v, strict=True))
        m = larger
        shown = [_number(m), *(f"{x:.2f}" for x in (alpha, total, o, o / (total or 1.0)))]
        rows.append([" ".join(map(_number, s)), " ".join(map(_number, v)), *shown])
    columns = {
        "en": ["scores", "values", "m", "alpha", "l", "o", "o / l"],
        "zh": ["分数", "value", "m", "alpha", "l", "o", "o / l"],
    }[lang]
    groups: list[list[Group]] = [[number, number, None, None, None, None, number] for number in range(4)]
    return Picture().grid(rows, groups, columns=columns).both()


def _number(x: float) -> str:
    return "-∞" if x == -math.inf else f"{x:g}"


def lanes(lang: str) -> Figure:
    """Eight lanes with a score each, two of them with none: three steps leave the state of the row in all."""
    word = {"en": "after distance {}", "zh": "距离 {} 之后"}[lang]
    scores = [1.0, 4.0, 0.0, 2.0, 3.0, 4.0]
    states: list[_State] = [(score, 1.0) for score in scores] + [_EMPTY] * (8 - len(scores))
    first = {"en": "(m, l) of each lane", "zh": "各 lane 的 (m, l)"}[lang]
    picture = Picture().grid([_cells(states)], [_by_maximum(states)], title=first, columns=range(8))
    for distance in (4, 2, 1):
        states = [_merge(states[lane], states[lane ^ distance]) for lane in range(8)]
        picture.links([(lane ^ distance, lane) for lane in range(8)])
        picture.grid([_cells(states)], [_by_maximum(states)], title=word.format(distance))
    return picture.both()


def _merge(one: _State, other: _State) -> _State:
    m = max(one[0], other[0])
    base = 0.0 if m == -math.inf else m
    return m, one[1] * math.exp(one[0] - base) + other[1] * math.exp(other[0] - base)


def _cells(states: Sequence[_State]) -> list[str]:
    return [f"{_number(m)},{total:.2f}" for m, total in states]


def _by_maximum(states: Sequence[_State]) -> list[Group]:
    return [None if m == -math.inf else int(m) for m, _ in states]


def passes() -> Figure:
    """Bytes that each of the lesson's two kernels loads, counted on the virtual GPU."""
    rows, keys = 256, 512
    folder = settings.content_dir("course") / "units/30-online-softmax/experiments"
    rng = np.random.default_rng(1)
    s = rng.standard_normal((keys, rows)).astype(np.float32)
    v, out = rng.standard_normal(keys).astype(np.float32), np.zeros(rows, np.float32)
    bars: list[tuple[str, float, str]] = []
    for name in ("three_passes", "one_pass"):
        kernel = jit.compile(folder / f"{name}.cu")["attend"]
        report = jit.profile(kernel, grid=(4,), block=(64,), args=(rows, keys, s, v, out))
        kibibytes = round(report.global_load.sectors * 32 / 1024)
        exponentials = report.instructions_by_class["special function"]
        bars.append((name, kibibytes, f"{kibibytes:,} KiB, {exponentials:,} exp"))
    return Picture().bars(bars).both()


def half(lang: str) -> Figure:
    """The error of a row's output where l and o are kept in fp16, by length, beside fp16's own rounding."""
    said = {"en": "{} keys", "zh": "{} 个键"}[lang]
    bars = [
        (said.format(f"{keys:,}"), error, f"{error:.1f}")
        for keys in (64, 256, 1024, 4096, 16384)
        for error in [_error_in_half(keys)]
    ]
    note = {
        "en": "root mean square error of o / l, in units of fp16's largest rounding error, 2^-11 of o",
        "zh": "o / l 的均方根误差，以 fp16 一次舍入的最大误差（o 的 2^-11）为单位",
    }[lang]
    return Picture().bars(bars).note(note).both()


def _error_in_half(keys: int) -> float:
    """Returns the error over 200 rows with normal scores and values around 1, taken in tiles of 64 keys."""
    rng = np.random.default_rng(keys)
    s, v = rng.standard_normal((200, keys)), 1 + 0.1 * rng.standard_normal((200, keys))
    m = np.full(200, -np.inf)
    total, o = np.zeros(200, np.float16), np.zeros(200, np.float16)
    for first in range(0, keys, 64):
        tile, values = s[:, first : first + 64], v[:, first : first + 64]
        larger = np.maximum(m, tile.max(1))
        alpha, p = np.exp(m - larger), np.exp(tile - larger[:, None])
        total = (total * alpha + p.sum(1)).astype(np.float16)
        o = (o * alpha + (p * values).sum(1)).astype(np.float16)
        m = larger
    weights = np.exp(s - s.max(1, keepdims=True))
    truth = (weights * v).sum(1) / weights.sum(1)
    error: Array = o.astype(np.float64) / total.astype(np.float64) / truth - 1
    return float(np.sqrt(np.mean(error**2)) * 2**11)
