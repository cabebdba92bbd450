"""Figures of the unit on naive attention: bytes by length, bounds, measured times, longest sequences."""

from __future__ import annotations

import functools
import json
import math
import re
from pathlib import Path

import numpy as np

from flashpath import gpus, jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_DIM = 32  # of the heads whose bytes are counted
_LENGTHS = (32, 64, 128, 256)
_HEADS, _HEAD_DIM, _BYTES_OF_A_SCORE = 8, 64, 12  # of naive_attention.py, as it measures them


def steps(lang: str) -> Figure:
    """What each pass takes from memory and puts back."""
    said = {
        "en": ("memory", "pass 1: scores", "pass 2: softmax", "pass 3: values"),
        "zh": ("内存", "第一遍：分数", "第二遍：softmax", "第三遍：加权和"),
    }[lang]
    memory, *passes = said
    moved = (("Q, K", "S (N, N)"), ("S (N, N)", "P (N, N)"), ("P (N, N), V", "O"))
    picture = Picture()
    for number, (name, (read, written)) in enumerate(zip(passes, moved, strict=True)):
        colours: list[Group] = [None, number, None]
        picture.flow([f"{memory}: {read}", name, f"{memory}: {written}"], colours)
    return picture.both()


def by_length(lang: str) -> Figure:
    """KiB of one head that three passes move: what goes in and out, and what lies between, counted."""
    said = {"en": ("Q, K, V, O", "S, P"), "zh": ("Q、K、V、O", "S、P")}[lang]
    bars: list[tuple[str, float, str]] = []
    for n in _LENGTHS:
        outside = 4 * 4 * n * _DIM / 1024
        between = sum(_moved(n)) / 1024 - outside
        for word, kib in zip(said, (outside, between), strict=True):
            bars.append((f"N = {n}, {word}", kib, f"{kib:g} KiB"))
    return Picture().bars(bars).both()


@functools.cache
def _moved(n: int) -> tuple[int, ...]:
    """The bytes that each of the three kernels of the exercise moves at least."""
    file = settings.content_dir("course") / "units/29-naive-attention/exercises/three-passes/passes.cu"
    names = ["scores", "softmax", "values"]
    kernels = jit.compile(file, name_expressions=names)
    rows, square = np.ones((n, _DIM), np.float32), np.ones((n, n), np.float32)
    s, p, o = np.zeros((n, n), np.float32), np.zeros((n, n), np.float32), np.zeros((n, _DIM), np.float32)
    launches = {
        "scores": ((-(-n // 32), n), (n, _DIM, 1.0, rows, rows.copy(), s)),
        "softmax": ((-(-n // 32), 1), (n, square, p)),
        "values": ((-(-_DIM // 32), n), (n, _DIM, square.copy(), rows.copy(), o)),
    }
    return tuple(
        jit.profile(kernels[name], grid=grid, block=(32,), args=args).dram_bytes
        for name, (grid, args) in launches.items()
    )


def bounds(lang: str) -> Figure:
    """FLOPs a byte of the ladder's three Triton kernels, counted, and what an H200 asks for."""
    import torch

    from flashpath import vgpu
    from flashpath.kernels.attention.first_rungs import unfused
    from flashpath.kernels.attention.problem import Options, prepare

    q, k, v = (torch.zeros(1, 512, 1, 64, dtype=torch.bfloat16) for _ in range(3))
    with vgpu.triton(device="H200", profile=True) as gpu:
        unfused.forward(prepare(q, k, v, Options()))
        found = [report.roofline for report in gpu.reports]
    rows: list[list[str]] = []
    for bound in found:
        assert bound is not None
        rows.append(
            [
                f"{bound.bytes / 1024:,.0f}",
                f"{bound.intensity:.1f}",
                f"{bound.ridge:.0f}",
                f"{bound.memory_seconds * 1e9:.0f}",
                f"{bound.compute_seconds * 1e9:.0f}",
            ]
        )
    columns = {
        "en": ["KiB", "FLOPs/byte", "needed", "memory, ns", "compute, ns"],
        "zh": ["KiB", "FLOP/字节", "需要", "内存 ns", "计算 ns"],
    }[lang]
    names = {"en": ["scores", "softmax", "values"], "zh": ["分数", "softmax", "加权和"]}[lang]
    groups: list[list[Group]] = [[None, 0, None, 3, None] for _ in rows]
    return Picture().grid(rows, groups, rows=names, columns=columns).both()


def measured() -> Figure:
    """Milliseconds and memory by length on an H200: what naive_attention.py printed there."""
    bars: list[tuple[str, float, str]] = []
    for n, milliseconds, mib in _printed(
        settings.content_dir("benchmarks/results") / "h200-demonstrations.json"
    ):
        bars.append((f"N = {n}", milliseconds, f"{milliseconds:.2f} ms, {mib / 1024:.2f} GiB"))
    return Picture().bars(bars).both()


def _printed(file: Path) -> list[tuple[int, float, float]]:
    """Returns length, milliseconds and MiB of each line."""
    text = json.loads(file.read_text(encoding="utf-8"))["printed"]["flash_attention/naive_attention.py"]
    found = re.findall(r"^ +(\d+) +([\d.]+) ms +([\d.]+) MiB", text, re.MULTILINE)
    return [(int(n), float(milliseconds), float(mib)) for n, milliseconds, mib in found]


def longest() -> Figure:
    """The longest sequence that fits, by the memory of a GPU."""
    bars: list[tuple[str, float, str]] = []
    for name in ("RTX 4090", "A100", "H200"):
        profile = gpus.gpu(name)
        memory = profile.driver_memory_bytes or round(profile.memory_gb * 1e9)
        squares, rows = _HEADS * _BYTES_OF_A_SCORE, 8 * _HEADS * _HEAD_DIM
        n = (math.isqrt(rows * rows + 4 * squares * memory) - rows) // (2 * squares)
        bars.append((f"{name}, {memory / 1e9:.0f} GB", n, f"{n:,}"))
    return Picture().bars(bars).both()
