"""Figures of the unit on wide loads and PTX: who moves which element, what a width costs, errors, speed.

Who moves what is recorded from solutions of the unit's exercises, in which a thread stores its own number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_UNIT = "units/13-vectors-and-ptx"
_FLOATS_OF_A_PACK = 4


def _kernel(file: str, name: str, edits: Sequence[tuple[str, str]] = ()) -> Any:
    """Returns a kernel of the unit; each edit replaces a text that is there exactly once."""
    source = (settings.content_dir("course") / _UNIT / file).read_text(encoding="utf-8")
    for old, new in edits:
        assert source.count(old) == 1, f"{old!r} in {file}"
        source = source.replace(old, new)
    return jit.compile(source, name_expressions=[name])[name]


# ---- Who moves which element ---------------------------------------------------------------------------

_NOBODY = -1.0


def pack(lang: str) -> Figure:
    """22 floats in packs of four, and two that are left over: the thread that writes each."""
    thread, whole, left = {
        "en": ("thread", "one access of 16 bytes for each pack", "left over: one element a thread"),
        "zh": ("线程", "每个包一次 16 字节的访问", "剩余：每个线程一个元素"),
    }[lang]
    n = 22
    each = "make_float4(0.5f * (x.x + y.x), 0.5f * (x.y + y.y), 0.5f * (x.z + y.z), 0.5f * (x.w + y.w))"
    edits = [(each, "make_float4(i, i, i, i)"), ("out[last] = 0.5f * (a[last] + b[last]);", "out[last] = i;")]
    out = np.full(n, _NOBODY, np.float32)
    zeros = np.zeros(n, np.float32)
    _kernel("exercises/lost-tail/solution.cu", "midpoint", edits).launch((1,), (256,), (n, zeros, zeros, out))
    packs = n // _FLOATS_OF_A_PACK
    groups: list[Group] = [int(i >= packs * _FLOATS_OF_A_PACK) for i in range(n)]
    return _by_thread(out, groups, thread, [(0, whole), (1, left)])


def slice_(lang: str) -> Figure:
    """18 floats from element 3 on: head, packs and tail, and the thread that writes each."""
    thread, words = {
        "en": ("thread", ("head", "packs of 16 bytes", "tail", "not of the slice")),
        "zh": ("线程", ("头部", "16 字节的包", "尾部", "不属于切片")),
    }[lang]
    n, first, size = 18, 3, 24
    edits = [
        ("v.x *= a;\n    v.y *= a;\n    v.z *= a;\n    v.w *= a;", "v = make_float4(i, i, i, i);"),
        ("x[first + i] *= a;\n  }", "x[first + i] = i;\n  }"),
        ("x[first + last] *= a;", "x[first + last] = i;"),
    ]
    x = np.full(size, _NOBODY, np.float32)
    kernel = _kernel("exercises/slice/solution.cu", "scale_slice", edits)
    kernel.launch((1,), (256,), (n, first, np.float32(2), x))
    border = -(-first // _FLOATS_OF_A_PACK) * _FLOATS_OF_A_PACK
    end = border + (first + n - border) // _FLOATS_OF_A_PACK * _FLOATS_OF_A_PACK
    groups: list[Group] = [
        None if writer == _NOBODY else 1 if i < border else 0 if i < end else 2 for i, writer in enumerate(x)
    ]
    legend: list[tuple[Group, str]] = [(1, words[0]), (0, words[1]), (2, words[2]), (None, words[3])]
    return _by_thread(x, groups, thread, legend)


def _by_thread(writers: Any, groups: list[Group], thread: str, legend: Sequence[tuple[Group, str]]) -> Figure:
    """Elements by number, in lines of a pack, and under each the thread that wrote it."""
    names = [f"x[{i}]" for i in range(len(writers))]
    told = ["" if writer == _NOBODY else f"{thread} {int(writer)}" for writer in writers]
    rows: list[list[str]] = []
    colours: list[list[Group]] = []
    labels: list[str] = []
    for start in range(0, len(names), _FLOATS_OF_A_PACK):
        part = slice(start, start + _FLOATS_OF_A_PACK)
        rows.append([f"{who} {name}".strip() for name, who in zip(names[part], told[part], strict=True)])
        colours.append(groups[part])
        labels.append(f"+{4 * start}")
    return Picture().grid(rows, colours, rows=labels).legend(legend).both()


# ---- What is counted -----------------------------------------------------------------------------------

_COPIED = 4096


def widths(lang: str) -> Figure:
    """Loads of 4,096 floats at three widths: requests differ, sectors do not."""
    requests, sectors, width = {
        "en": ("load requests for 4,096 floats", "sectors", "{} bytes a lane"),
        "zh": ("加载 4096 个 float 的请求数", "个扇区", "每个 lane {} 字节"),
    }[lang]
    bars: list[tuple[str, float, str]] = []
    for floats in (1, 2, 4):
        kernel = _kernel("experiments/widths.cu", f"copy<{floats}>")
        arrays = np.zeros(_COPIED, np.float32), np.zeros(_COPIED, np.float32)
        report = jit.profile(kernel, _COPIED // floats // 128, 128, (_COPIED, *arrays))
        load = report.global_load
        told = f"{load.requests}, {load.sectors} {sectors}"
        bars.append((width.format(4 * floats), load.requests, told))
    return Picture().heading(requests).bars(bars).both()


_ROWS, _D = 4, 1024


def passes(lang: str) -> Figure:
    """The bytes of silu(gate) * up, by two kernels and by one."""
    title, two, one = {
        "en": ("bytes for each result of 2 bytes", "two kernels", "one kernel"),
        "zh": ("每个 2 字节的结果读写多少字节", "两个核函数", "一个核函数"),
    }[lang]

    def moved(*calls: tuple[str, str, tuple[Any, ...]]) -> float:
        found = 0
        for file, name, args in calls:
            report = jit.profile(_kernel(file, name), _ROWS, 128, args)
            found += report.global_load.bytes + report.global_store.bytes
        return found / (_ROWS * _D)

    x = np.zeros((_ROWS, 2 * _D), np.float16)
    between, out = np.zeros((2, _ROWS, _D), np.float16)
    apart = moved(
        ("experiments/two_passes.cu", "silu", (_D, x, between)),
        ("experiments/two_passes.cu", "product", (_D, x, between, out)),
    )
    fused = moved(("exercises/act-and-mul/solution.cu", "act_and_mul", (_D, 0, x, out)))
    return Picture().heading(title).bars([(two, apart), (one, fused)]).both()


# ---- Errors --------------------------------------------------------------------------------------------

_TRIED = 8192
_RANGES = ((-1, 0), (-5, -1), (-20, -5), (-50, -20), (-87, -50))


def errors(lang: str) -> Figure:
    """The largest errors of e^x in ulp, by one product and ex2, and by expf, over several ranges of x."""
    title = {"en": "e^x: largest error in ulp", "zh": "e^x 的最大误差（ulp）"}[lang]
    bars: list[tuple[str, float, str]] = []
    for label, name in (("ex2(x · log2 e)", "in_one_step"), ("expf(x)", "by_expf")):
        kernel = _kernel("experiments/powers.cu", name)
        for low, high in _RANGES:
            x = np.linspace(low, high, _TRIED, dtype=np.float32)
            out = np.zeros_like(x)
            kernel.launch((_TRIED // 256,), (256,), (_TRIED, x, out))
            exact = np.exp(x.astype(np.float64))
            last_place = np.ldexp(1.0, np.frexp(exact)[1] - 24)
            largest = float(np.max(np.abs(out - exact) / last_place))
            bars.append((f"{label}, {low} … {high}", largest, f"{largest:.2f}"))
    return Picture().heading(title).bars(bars).both()


# ---- Speed ---------------------------------------------------------------------------------------------


def speed(lang: str) -> Figure:
    """silu_and_mul and gelu on an H200, from the records."""
    from flashpath.bench.record_files import load_runs

    gate, gelu = {
        "en": ("silu_and_mul, 32,768 × 4,096 bfloat16, µs", "gelu, 2²⁸ bfloat16, µs"),
        "zh": ("silu_and_mul，32768 × 4096 bfloat16，µs", "gelu，2²⁸ 个 bfloat16，µs"),
    }[lang]
    records = [
        each
        for each in load_runs(settings.content_dir("benchmarks/results"))
        if "H200" in str(each.environment.gpu) and each.ladder == "elementwise" and each.time is not None
    ]
    picture = Picture()
    for title, parameters in (
        (gate, {"operation": "silu_and_mul", "shape": [32768, 4096], "dtype": "bfloat16"}),
        (gelu, {"operation": "gelu", "shape": [1 << 28], "dtype": "bfloat16"}),
    ):
        times = {
            each.implementation: each.time.median * 1e6
            for each in records
            if each.parameters == parameters and each.time is not None
        }
        names = ("torch", "scalar", "grid_stride", "vectorized")
        picture.heading(title).bars([(name, times[name], f"{times[name]:.0f}") for name in names])
    return picture.both()
