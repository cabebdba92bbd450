"""The figures of the unit on environment and tools."""

from __future__ import annotations

from flashpath import gpus as profiles
from flashpath.course.figures.drawing import Figure, Picture


def pipeline(lang: str) -> Figure:
    """The way of a kernel to the virtual GPU, and to a real one."""
    zh = lang == "zh"
    here = ("虚拟 GPU", "结果、计数、问题") if zh else ("virtual GPU", "results, counts, findings")
    there = ("驱动、GPU", "结果、时间") if zh else ("driver, GPU", "results, time")
    picture = Picture()
    picture.heading("不需要 GPU" if zh else "no GPU needed")
    picture.flow([".cu", "NVRTC, nvcc", "PTX", *here], [None, 0, 1, 2, 2])
    picture.heading("需要 GPU" if zh else "with a GPU")
    picture.flow([".cu", "NVRTC, nvcc", "PTX", "ptxas", "SASS", *there], [None, 0, 1, 0, 3, 4, 4])
    return picture.both()


def gpus() -> Figure:
    """The numbers of a GPU that a programmer should know, of three that the virtual one can play."""
    shown = [profiles.gpu(name) for name in ("A100", "RTX 4090", "H200")]
    cells = [
        [
            gpu.sm_count,
            gpu.architecture.max_warps_per_sm,
            f"{gpu.memory_bandwidth_gb_per_s:,} GB/s",
            f"{gpu.architecture.unified_l1_shared_per_sm_kib} KiB",
            f"{gpu.l2_mib} MiB",
            f"{gpu.memory_gb} GB",
        ]
        for gpu in shown
    ]
    columns = ["SM", "warp / SM", "DRAM", "L1 / SM", "L2", "memory"]
    return Picture().grid(cells, rows=[gpu.name for gpu in shown], columns=columns).both()
