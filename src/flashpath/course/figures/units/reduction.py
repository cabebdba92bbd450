"""Figures of the unit on reductions: who works in a tree, shuffles, levels, and what the trees cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_WARPS, _LANES = 4, 8  # in the drawing; the hardware has 32 lanes
_THREADS = _WARPS * _LANES
_STEPS = 5  # log2 of the threads


def who_works(lang: str) -> Figure:
    """In how many steps each thread works, for two trees."""
    said = {
        "en": (
            "neighbours first",
            "upper half onto lower half",
            "the number of steps in which a thread works, of 5",
        ),
        "zh": ("先加相邻的", "上半折到下半", "每个线程在 5 步中干活的步数"),
    }[lang]

    def of_neighbours(thread: int) -> int:
        return sum(thread % (2 << step) == 0 for step in range(_STEPS))

    def of_folded(thread: int) -> int:
        return sum(thread < _THREADS >> step for step in range(1, _STEPS + 1))

    maps = [_map(said[0], of_neighbours), _map(said[1], of_folded)]
    return Picture().side_by_side(*maps).note(said[2]).both()


def _map(title: str, steps: Callable[[int], int]) -> Picture:
    cells = [[steps(warp * _LANES + lane) for lane in range(_LANES)] for warp in range(_WARPS)]
    groups: list[list[Group]] = [[each if each else None for each in row] for row in cells]
    return Picture().grid(cells, groups, title=title, rows=[f"warp {warp}" for warp in range(_WARPS)])


def shuffles(lang: str) -> Figure:
    """The sum of eight lanes: distances 4, 2, 1."""
    word = {"en": "distance", "zh": "距离"}[lang]
    values = list(range(1, _LANES + 1))
    picture = Picture().grid(
        [values], [[0] * _LANES], title="lanes" if lang == "en" else "lane", columns=range(_LANES)
    )
    distance = _LANES // 2
    step = 1
    while distance:
        values = [values[lane] + values[lane + distance] for lane in range(distance)]
        shown = [*map(str, values), *["–"] * (_LANES - distance)]
        groups: list[Group] = [step] * distance + [None] * (_LANES - distance)
        pairs = [(lane + distance, lane) for lane in range(distance)]
        picture.links(pairs).grid([shown], [groups], title=f"{word} {distance}")
        distance //= 2
        step += 1
    return picture.both()


def levels(lang: str) -> Figure:
    """From many numbers to one, and the means of each level."""
    said = {
        "en": [
            ("1", "total: one atomic for each block, or a second launch"),
            ("8 → 1", "block: 8 words of shared memory, one barrier"),
            ("256 → 8", "warps: 5 shuffles, no memory, no barrier"),
            ("2048 → 256", "threads: registers, no communication"),
        ],
        "zh": [
            ("1", "总和：每个块一次原子加，或者第二次启动"),
            ("8 → 1", "块：共享内存 8 个字，一个屏障"),
            ("256 → 8", "warp：5 次 shuffle，不用内存，不用屏障"),
            ("2048 → 256", "线程：寄存器，不通信"),
        ],
    }[lang]
    return Picture().stack(said, groups=[3, 2, 1, 0]).both()


def passes(lang: str) -> Figure:
    """Passes over shared memory of a block that sums 256 floats, counted for the kernels of the exercise."""
    said = {"en": "{}, barriers: {}", "zh": "{}，屏障 {} 个"}[lang]
    folder = settings.content_dir("course") / "units/05-reduction/exercises/trees-by-hand"
    bars: list[tuple[str, float, str]] = []
    for name in ("neighbours", "side_by_side", "folded", "shuffled"):
        kernel = jit.compile(folder / f"{name}.cu", name_expressions=[name])[name]
        arrays = np.ones(256, np.float32), np.zeros(256, np.float32)
        report = jit.profile(kernel, grid=(1,), block=(256,), args=arrays)
        count = report.shared_load.wavefronts + report.shared_store.wavefronts
        barriers = report.instructions_by_class["barrier"] // 256
        bars.append((name, count, said.format(count, barriers)))
    return Picture().bars(bars).both()
