"""Figures of the unit on asynchronous copies: what a wait makes visible, a ring, zeros, registers, speed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

# ---- Groups --------------------------------------------------------------------------------------------


def visible(lang: str) -> Figure:
    """Which of four groups have arrived behind each wait, on the virtual GPU, where copies come late."""
    title, columns, there, pending = {
        "en": ("committed one after the other", "group {}", "arrived", "–"),
        "zh": ("依次提交", "第 {} 组", "已到达", "–"),
    }[lang]
    rows: list[list[str]] = []
    groups: list[list[Group]] = []
    x = np.arange(1, 5, dtype=np.float32)
    for left in range(4):
        seen = np.zeros(4, np.float32)
        kernel = _kernel("groups", PENDING=left)
        jit.profile(kernel, grid=(1,), block=(1,), args=(x, seen))
        rows.append([there if value else pending for value in seen])
        groups.append([0 if value else None for value in seen])
    labels = [f"wait_group {left}" for left in range(4)]
    heads = [columns.format(g) for g in range(4)]
    return Picture().grid(rows, groups, title=title, rows=labels, columns=heads).both()


def zeros(lang: str) -> Figure:
    """A quad of shared memory behind copies of 16 bytes of which 16, 12, 8, 4 or no bytes are read."""
    title, label = {
        "en": ("shared memory held 9 9 9 9, the source holds 1 2 3 4", "{} bytes read"),
        "zh": ("共享内存原来是 9 9 9 9，源是 1 2 3 4", "读 {} 字节"),
    }[lang]
    rows: list[list[int]] = []
    groups: list[list[Group]] = []
    counts = (4, 3, 1, 0)
    for there in counts:
        x, seen = np.arange(1, there + 1, dtype=np.float32), np.zeros(4, np.float32)
        kernel = _kernel("part", PENDING=0)
        jit.profile(kernel, grid=(1,), block=(1,), args=(there, x, seen))
        rows.append([int(value) for value in seen])
        groups.append([0 if value else 1 for value in seen])
    labels = [label.format(4 * there) for there in counts]
    return Picture().grid(rows, groups, title=title, rows=labels).both()


# ---- A ring --------------------------------------------------------------------------------------------

_STAGES, _TILES = 4, 7


def ring(lang: str) -> Figure:
    """What each stage of a ring holds in each step: the tile that is read, and those on their way."""
    step_word, stage_word, legend = {
        "en": ("step", "stage {}", ("read", "on its way, or arrived early")),
        "zh": ("步", "第 {} 级", ("正在读", "在途，或已提前到达")),
    }[lang]
    cells = [["" for _ in range(_TILES)] for _ in range(_STAGES)]
    groups: list[list[Group]] = [[None for _ in range(_TILES)] for _ in range(_STAGES)]
    for step in range(_TILES):
        for tile in range(step, min(step + _STAGES, _TILES)):
            cells[tile % _STAGES][step] = str(tile)
            groups[tile % _STAGES][step] = 0 if tile == step else 1
    labels = [stage_word.format(stage) for stage in range(_STAGES)]
    heads = [f"{step_word} {step}" if lang == "en" else f"第 {step} {step_word}" for step in range(_TILES)]
    picture = Picture().grid(cells, groups, rows=labels, columns=heads)
    return picture.legend([(0, legend[0]), (1, legend[1])]).both()


# ---- What it costs, and what it brings -----------------------------------------------------------------


def registers(lang: str) -> Figure:
    """Registers of a thread with 1 to 16 quads on their way, as compiled for an H200."""
    title, columns, label = {
        "en": ("registers of a thread, by its quads on their way", ("plain loads", "cp.async"), "{}"),
        "zh": ("每个线程的寄存器数，左边是它在途的四元组个数", ("普通加载", "cp.async"), "{}"),
    }[lang]
    counts = (1, 4, 8, 16)
    rows = [
        [
            str(_kernel(name, "sm_90", "copies.cu", QUADS=quads).resources.registers)
            for name in ("through_registers", "past_registers")
        ]
        for quads in counts
    ]
    groups: list[list[Group]] = [[1, 0] for _ in rows]
    labels = [label.format(quads) for quads in counts]
    return Picture().grid(rows, groups, title=title, rows=labels, columns=columns).both()


def speed(lang: str) -> Figure:
    """GB/s of one warp on each SM of an H200 that walks through an array, from the record."""
    title, names = {
        "en": ("one warp on each SM of an H200, GB/s", ("when needed", "one ahead", "seven ahead")),
        "zh": ("H200 每个 SM 一个 warp，GB/s", ("用到时才加载", "提前一步", "提前七步")),
    }[lang]
    file = settings.content_dir("benchmarks/results") / "h200-demonstrations.json"
    printed = str(json.loads(file.read_text(encoding="utf-8"))["printed"]["cuda/08_prefetch.cu"])
    rates = [float(each) for each in re.findall(r"([\d.]+) GB/s", printed)]
    bars = [(name, rate, f"{rate:.0f}") for name, rate in zip(names, rates, strict=True)]
    return Picture().heading(title).bars(bars).both()


def _kernel(name: str, arch: str = "sm_80", file: str = "groups.cu", **defines: Any) -> jit.Kernel:
    return jit.compile(_experiment(file), arch, name_expressions=[name], defines=defines)[name]


def _experiment(name: str) -> Path:
    return settings.content_dir("course") / "units/16-async-copies/experiments" / name
