"""The figures of the unit on divergence and occupancy: ways of a warp, limits of an SM, speed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from flashpath import gpus, jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_LANES = 8  # of the warp that is drawn
_NUMBERS = 1024  # whose steps are counted
_THREADS = 192  # of a block of table.cu


# ---- Divergence ----------------------------------------------------------------------------------------


def two_ways(lang: str) -> Figure:
    """A warp at a branch on which its lanes disagree, and at one on which they agree."""
    said = {
        "en": ("t % 2 == 0", "one warp, all its lanes", "if", "then", "else", "after"),
        "zh": ("t % 2 == 0", "同一个 warp 的所有 lane", "if", "then", "else", "之后"),
    }[lang]
    apart, together = (
        _steps(said[number], ways, said[2:])
        for number, ways in ((0, [lane % 2 for lane in range(_LANES)]), (1, [0] * _LANES))
    )
    return Picture().side_by_side(apart, together).both()


def _steps(title: str, ways: list[int], said: tuple[str, ...]) -> Picture:
    """Each step of the warp with the lanes that take part in it; ways that no lane takes are left out."""
    both = range(_LANES)
    steps = [
        (said[0], list(both)),
        *((said[1 + way], [lane for lane in both if ways[lane] == way]) for way in (0, 1) if way in ways),
        (said[3], list(both)),
    ]
    cells = [[lane if lane in lanes else "·" for lane in both] for _, lanes in steps]
    groups: list[list[Group]] = [
        [number if lane in lanes else None for lane in both] for number, (_, lanes) in enumerate(steps)
    ]
    return Picture().grid(cells, groups, title=title, rows=[name for name, _ in steps])


def rounds(lang: str) -> Figure:
    """The steps of the numbers 1 to 32, one for each lane of a warp, and how busy they keep it."""
    of_warp = _collatz()[: gpus.WARP_SIZE]
    rows = [list(map(int, of_warp[first : first + _LANES])) for first in range(0, len(of_warp), _LANES)]
    most = int(of_warp.max())
    groups: list[list[Group]] = [[0 if count == most else None for count in row] for row in rows]
    labels = [f"lane {first}–{first + _LANES - 1}" for first in range(0, len(of_warp), _LANES)]
    share = of_warp.mean() / most
    note = {
        "en": f"the warp makes {most} rounds; its lanes work in {share:.0%} of them",
        "zh": f"这个 warp 走 {most} 轮，各 lane 平均只在其中的 {share:.0%} 里干活",
    }[lang]
    return Picture().grid(rows, groups, rows=labels).note(note).both()


def sorting(lang: str) -> Figure:
    """Rounds of the warps that count the steps of 1,024 numbers: as they come, sorted, at best."""
    names = {
        "en": ("as they come", "sorted by steps", "no lane ever idle"),
        "zh": ("原来的次序", "按步数排序", "没有 lane 空闲"),
    }[lang]
    steps = _collatz()
    as_they_come, in_order = (_rounds_of_warps(each) for each in (steps, np.sort(steps)))
    bars = [as_they_come, in_order, int(steps.sum()) / gpus.WARP_SIZE]
    return (
        Picture()
        .bars([(name, count, f"{count:,.0f}") for name, count in zip(names, bars, strict=True)])
        .both()
    )


def _rounds_of_warps(steps: Any) -> int:
    """Each warp makes as many rounds as its slowest lane."""
    return int(steps.reshape(-1, gpus.WARP_SIZE).max(1).sum())


def _collatz() -> Any:
    """The steps of the numbers from 1 on, as collatz.cu counts them on the virtual GPU."""
    start = np.arange(1, _NUMBERS + 1, dtype=np.int32)
    steps = np.zeros(_NUMBERS, np.int32)
    kernel = _kernel(_experiment("collatz.cu"), "collatz", "sm_80")
    kernel.launch(grid=(_NUMBERS // 256,), block=(256,), args=(_NUMBERS, start, steps))
    return steps


# ---- Occupancy -----------------------------------------------------------------------------------------


def limits(lang: str) -> Figure:
    """How many blocks of look_up each resource of an SM of an A100 allows."""
    names = {
        "en": ("warps", "places for blocks", "registers", "shared memory"),
        "zh": ("warp 数", "块的位置", "寄存器", "共享内存"),
    }[lang]
    found = _look_up("A100")
    counts = [count or 0 for count in found.limits.values()]
    return Picture().bars(list(zip(names, counts, strict=True))).both()


def generations(lang: str) -> Figure:
    """Seven GPUs, what an SM of each offers, and the occupancy of look_up there."""
    columns = {
        "en": ("SMs", "GB/s", "L2, MiB", "warps", "shared, KiB", "blocks", "occupancy"),
        "zh": ("SM", "GB/s", "L2，MiB", "warp", "共享，KiB", "块", "占用率"),
    }[lang]
    names = ("T4", "A100", "RTX 3090", "RTX 4090", "H100", "H200", "B200")
    rows: list[list[str]] = []
    for name in names:
        gpu, found = gpus.gpu(name), _look_up(name)
        rows.append(
            [
                str(gpu.sm_count),
                f"{gpu.memory_bandwidth_gb_per_s:g}",
                f"{gpu.l2_mib:g}",
                str(gpu.architecture.max_warps_per_sm),
                str(gpu.architecture.max_shared_per_sm_kib),
                str(found.blocks_per_sm),
                f"{found.fraction:.0%}",
            ]
        )
    groups: list[list[Group]] = [[None] * 5 + [0, 1] for _ in rows]
    return Picture().grid(rows, groups, rows=names, columns=columns).both()


def _look_up(gpu: str) -> gpus.Occupancy:
    """The occupancy of table.cu on a GPU, compiled for it."""
    major, minor = gpus.gpu(gpu).capability
    used = _kernel(_experiment("table.cu"), "look_up", f"sm_{major}{minor}").resources
    return gpus.occupancy(gpus.gpu(gpu), _THREADS, used.registers, used.static_shared)


# ---- Less occupancy, and more speed --------------------------------------------------------------------


def sums(lang: str) -> Figure:
    """Rungs of the reduction ladder: resident warps, bytes in flight, and what an H200 measured."""
    from flashpath.kernels.reduction import host

    columns = {
        "en": ("registers", "warps", "occupancy", "bytes a thread", "KiB an SM", "TB/s"),
        "zh": ("寄存器", "warp", "占用率", "每线程字节", "每 SM KiB", "TB/s"),
    }[lang]
    # What a thread has asked for before it uses any of it.
    asked = {host.SEQUENTIAL: 4, host.WARP_SHUFFLE: 8, host.VECTORIZED: 64}
    times = _measured("reduction", "sum 2^28 float32")
    rows: list[list[str]] = []
    for file, bytes_ in asked.items():
        kernel = _kernel(file, "reduce<Sum<float>, float>", "sm_90")
        used = kernel.resources
        found = gpus.occupancy(gpus.gpu("H200"), host.THREADS, used.registers, used.static_shared)
        rows.append(
            [
                str(used.registers),
                str(found.warps_per_sm),
                f"{found.fraction:.0%}",
                str(bytes_),
                f"{found.warps_per_sm * gpus.WARP_SIZE * bytes_ / 1024:g}",
                f"{times[file.stem]['gb_per_s'] / 1000:.2f}",
            ]
        )
    groups: list[list[Group]] = [[None, None, 0, None, None, 2] for _ in rows]
    return Picture().grid(rows, groups, rows=[file.stem for file in asked], columns=columns).both()


def products(lang: str) -> Figure:
    """Rungs of the matmul ladder: registers, resident warps, and what an H200 measured for 4096³."""
    from flashpath.kernels.matmul import float32

    columns = {
        "en": ("threads", "registers", "warps", "occupancy", "TFLOP/s"),
        "zh": ("线程", "寄存器", "warp", "占用率", "TFLOP/s"),
    }[lang]
    tiling = float32.TILINGS[0]
    one = float32.SIMPLE_TILE
    rungs = (
        (float32.SHARED_TILE, f"matmul_shared_tile<float, {one}>", one * one, 0),
        (float32.REGISTER_1D, "matmul_register_1d", 512, 0),
        (float32.REGISTER_2D, "matmul_register_2d", 256, 0),
        (float32.DOUBLE_BUFFERED, "matmul_double_buffered<true>", 256, 0),
        (
            float32.WARP_TILED,
            f"matmul_warp_tiled<true, {tiling.kernel_arguments}>",
            tiling.threads,
            tiling.shared_bytes,
        ),
    )
    times = _measured("matmul", "4096³ float32")
    rows: list[list[str]] = []
    for file, name, threads, shared in rungs:
        used = _kernel(file, name, "sm_90").resources
        found = gpus.occupancy(gpus.gpu("H200"), threads, used.registers, used.static_shared + shared)
        speed = times[file.stem]["tflop_per_s"]
        rows.append(
            [
                str(threads),
                str(used.registers),
                str(found.warps_per_sm),
                f"{found.fraction:.1%}",
                f"{speed:.1f}",
            ]
        )
    groups: list[list[Group]] = [[None, None, None, 0, 2] for _ in rows]
    return Picture().grid(rows, groups, rows=[file.stem for file, *_ in rungs], columns=columns).both()


def _measured(ladder: str, case: str) -> dict[str, dict[str, Any]]:
    """What an H200 measured of a ladder's case, by implementation."""
    file = settings.content_dir("benchmarks/results") / "h200.json"
    for each in json.loads(file.read_text(encoding="utf-8"))["ladders"]:
        for found in each["cases"] if each["ladder"] == ladder else ():
            if found["case"] == case:
                return {record["implementation"]: record for record in found["records"]}
    raise LookupError(f"{file} has no {case} of {ladder}")


def _kernel(file: Path, name: str, arch: str) -> jit.Kernel:
    return jit.compile(file, arch, name_expressions=[name])[name]


def _experiment(name: str) -> Path:
    return settings.content_dir("course") / "units/06-divergence-and-occupancy/experiments" / name
