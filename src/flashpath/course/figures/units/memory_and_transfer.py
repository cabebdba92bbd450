"""The figures of the unit on memory: the levels, what copies cost on an H200, and where an array lies."""

from __future__ import annotations

import numpy as np

from flashpath import gpus, jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_EXPERIMENTS = "units/02-memory-and-transfer/experiments"
_MILLION = 1 << 20


def one_million(lang: str) -> Figure:
    """What the addition of 1,048,576 floats took, by where the data were."""
    names = {
        "en": ("one core of the CPU", "the kernel alone", "with pageable copies", "with pinned copies"),
        "zh": ("CPU 的一个核", "只有核函数", "含拷贝，可分页内存", "含拷贝，锁页内存"),
    }[lang]
    times = _times()[_MILLION]
    return Picture().bars([(name, us, f"{us:g} µs") for name, us in zip(names, times, strict=True)]).both()


def break_even(lang: str) -> Figure:
    """How many times as fast as the CPU the GPU is, for each size; coloured where it wins."""
    names = {
        "en": ("kernel alone", "pinned copies", "pageable copies", "the GPU wins", "the CPU wins"),
        "zh": ("只有核函数", "含锁页拷贝", "含可分页拷贝", "GPU 更快", "CPU 更快"),
    }[lang]
    table = _times()
    ratios = [
        [cpu / kernel for cpu, kernel, _, _ in table.values()],
        [cpu / pinned for cpu, _, _, pinned in table.values()],
        [cpu / pageable for cpu, _, pageable, _ in table.values()],
    ]
    groups: list[list[Group]] = [[0 if ratio > 1 else None for ratio in row] for row in ratios]
    picture = Picture().grid(
        [[_short(ratio) for ratio in row] for row in ratios],
        groups,
        rows=names[:3],
        columns=[_size(n) for n in table],
        note="n",
    )
    return picture.legend([(0, names[3]), (None, names[4])]).both()


def levels(lang: str) -> Figure:
    """The memories of an H200 from the nearest to the farthest: who sees each, and how far it is."""
    gpu = gpus.gpu("H200")
    register, constant, shared, l1, l2, hbm = _clocks()
    registers = gpu.architecture.registers_per_sm * 4 // 1024
    shared_kib = gpu.architecture.max_shared_per_sm_kib
    l2_mib, memory_gb = gpu.l2_mib, gpu.memory_gb
    layers = {
        "en": [
            ("registers", f"a thread · {registers} KiB an SM · {register:g} clocks"),
            ("shared memory", f"a block · {shared_kib} KiB an SM · {shared:g} clocks"),
            ("L1, constant cache", f"an SM · {l1:g} and {constant:g} clocks"),
            ("L2", f"the GPU · {l2_mib:g} MiB · {l2:g} clocks"),
            ("device memory: global, local", f"all threads, each thread · {memory_gb} GB · {hbm:g} clocks"),
            ("host memory", "the CPU · reached by copies alone"),
        ],
        "zh": [
            ("寄存器", f"一个线程 · 每个 SM {registers} KiB · {register:g} 周期"),
            ("共享内存", f"一个线程块 · 每个 SM {shared_kib} KiB · {shared:g} 周期"),
            ("L1、常量缓存", f"一个 SM · {l1:g} 与 {constant:g} 周期"),
            ("L2", f"整块 GPU · {l2_mib:g} MiB · {l2:g} 周期"),
            ("设备内存：全局、局部", f"所有线程、各个线程 · {memory_gb} GB · {hbm:g} 周期"),
            ("主机内存", "CPU · 只能通过拷贝到达"),
        ],
    }[lang]
    return Picture().stack(layers, [0, 1, 2, 2, 3, None]).both()


def palette(lang: str) -> Figure:
    """Sectors of global and local memory of the two kernels of palette.cu."""
    of_global, of_local = {"en": ("global", "local"), "zh": ("全局内存", "局部内存")}[lang]
    source = settings.content_dir("course") / _EXPERIMENTS / "palette.cu"
    kernels = ("by_index", "by_question")
    module = jit.compile(source, "sm_80", name_expressions=list(kernels), assemble=False)
    n = 1024
    code = np.random.default_rng(0).integers(0, 8, n).astype(np.int32)
    bars: list[tuple[str, float]] = []
    for kernel in kernels:
        report = jit.profile(module[kernel], n // 256, 256, (n, 5, 3, code, np.zeros(n, np.int32)))
        bars.append((f"{kernel}: {of_global}", report.global_load.sectors + report.global_store.sectors))
        bars.append((f"{kernel}: {of_local}", report.local_load.sectors + report.local_store.sectors))
    return Picture().bars(bars).both()


def _times() -> dict[int, tuple[float, float, float, float]]:
    """The record of break_even.cu: microseconds of the CPU, the kernel, and both with copies, by elements."""
    rows = [line.split() for line in _record("break_even_h200.txt")[1:]]
    return {
        int(n): (float(cpu), float(kernel), float(pageable), float(pinned))
        for n, cpu, kernel, pageable, pinned in rows
    }


def _clocks() -> list[float]:
    """The record of latency.cu: clocks of each level, in the order in which it prints them."""
    return [float(line.split()[-2]) for line in _record("latency_h200.txt")[1:]]


def _record(name: str) -> list[str]:
    return (settings.content_dir("course") / _EXPERIMENTS / name).read_text(encoding="utf-8").splitlines()


def _short(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 0.1 else f"{ratio:.2f}"


def _size(n: int) -> str:
    return f"{n >> 20}M" if n >= _MILLION else f"{n >> 10}K"
