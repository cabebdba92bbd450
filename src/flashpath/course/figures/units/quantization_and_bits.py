"""Figures of the unit on bits and quantisation: votes, segments, four packings, errors of codes, speed."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from flashpath import jit, settings
from flashpath.course.figures.drawing import Figure, Group, Picture

_FLAGS = (1, 0, 1, 1, 0, 0, 1, 0)
_UNIT = "units/14-quantization-and-bits"


def _kernel(file: str, name: str, edits: tuple[tuple[str, str], ...] = ()) -> Any:
    """Returns a kernel of the unit; each edit replaces a text that is there exactly once."""
    path = settings.content_dir("course") / _UNIT / file
    source = path.read_text(encoding="utf-8")
    for old, new in edits:
        assert source.count(old) == 1, f"{old!r} in {file}"
        source = source.replace(old, new)
    return jit.compile(source, name_expressions=[name])[name]


# ---- Bits ----------------------------------------------------------------------------------------------


def vote(lang: str) -> Figure:
    """Eight lanes vote; the byte of their word as it comes, and in big order, both from the virtual GPU."""
    flags, little, big, lanes = {
        "en": (
            "flags of lanes 0 to 7",
            "the ballot, bit 7 first: little order",
            "reversed: big order",
            "lane",
        ),
        "zh": ("lane 0 到 7 的标志", "ballot 的结果，先写第 7 位：小端序", "反转之后：大端序", "lane"),
    }[lang]
    x = np.zeros(1024, np.uint8)
    x[:8] = _FLAGS
    bytes_: list[int] = []
    for edits in ((("__byte_perm(__brev(votes), 0, 0x0123)", "votes"),), ()):
        out = np.zeros(32, np.uint32)
        _kernel("experiments/packings.cu", "voted", edits).launch((1,), (32,), (x, out))
        bytes_.append(int(out[0]) & 0xFF)
    columns = [f"{lanes} {k}" for k in range(8)]
    colours: list[Group] = [k // 2 for k in range(8)]
    picture = Picture().grid([_FLAGS], [colours], columns=columns, title=flags)
    picture.links([(k, 7 - k) for k in range(8)])
    for title, byte, order in ((little, bytes_[0], colours[::-1]), (big, bytes_[1], colours)):
        bits = [byte >> (7 - place) & 1 for place in range(8)]
        cells = [[*bits, f"= {byte}"]]
        rows: list[list[Group]] = [[*order, None]]
        picture.grid(cells, rows, columns=[*(f"bit {7 - place}" for place in range(8)), ""], title=title)
    return picture.both()


_LENGTHS = (5, 0, 11, 3)


def segments(lang: str) -> Figure:
    """Segments of four lengths in one array, and their bytes, packed by the exercise's kernel."""
    flags, bytes_title, begin_word, out_word = {
        "en": ("flags, four segments one after the other (the second is empty)", "bytes of out, bit 7 first",
               "begin", "out_begin"),
        "zh": ("标志，四段首尾相接（第二段是空的）", "out 的字节，先写第 7 位", "begin", "out_begin"),
    }[lang]  # fmt: skip
    begin = np.cumsum([0, *_LENGTHS]).astype(np.int32)
    out_begin = np.cumsum([0, *(-(-n // 8) for n in _LENGTHS)]).astype(np.int32)
    x = np.random.default_rng(3).integers(0, 2, sum(_LENGTHS), np.uint8)
    out = np.zeros(out_begin[-1], np.uint8)
    kernel = _kernel("exercises/shared-edges/solution.cu", "segment_bits")
    kernel.launch((1,), (256,), (len(_LENGTHS), begin, out_begin, x, out))
    of_flag: list[Group] = [s for s, n in enumerate(_LENGTHS) for _ in range(n)]
    picture = Picture().grid([list(map(int, x))], [of_flag], columns=range(sum(_LENGTHS)), title=flags)
    rows: list[list[Any]] = []
    groups: list[list[Group]] = []
    for s, (first, last) in enumerate(itertools.pairwise(out_begin.tolist())):
        for byte in range(first, last):
            left = _LENGTHS[s] - 8 * (byte - first)
            rows.append([int(out[byte]) >> bit & 1 for bit in reversed(range(8))])
            groups.append([s if bit < left else None for bit in reversed(range(8))])
    names = [f"out[{byte}]" for byte in range(len(rows))]
    picture.grid(rows, groups, rows=names, columns=[f"bit {7 - k}" for k in range(8)], title=bytes_title)
    picture.note(f"{begin_word} = {begin.tolist()}, {out_word} = {out_begin.tolist()}")
    return picture.both()


_PACKED = 2048


def cost(lang: str) -> Figure:
    """What the four kernels of the experiment ask of memory for 2,048 flags, counted on the virtual GPU."""
    columns = {
        "en": ["load requests", "sectors loaded", "shared passes", "barriers", "store requests"],
        "zh": ["加载请求", "加载的扇区", "共享内存趟数", "屏障", "存储请求"],
    }[lang]
    cells: list[list[str]] = []
    types = {"bytewise": np.uint8, "staged": np.uint32, "voted": np.uint8, "wide": np.uint64}
    for name, dtype in types.items():
        x = np.ones(_PACKED, np.uint8).view(dtype)
        out = np.zeros(_PACKED // 8, np.uint8).view(np.uint32 if name == "voted" else np.uint8)
        kernel = _kernel("experiments/packings.cu", name)
        threads = _PACKED // 32 if name == "voted" else _PACKED // 8
        report = jit.profile(kernel, grid=(1,), block=(threads,), args=(x, out))
        counts = (
            report.global_load.requests,
            report.global_load.sectors,
            report.shared_load.wavefronts + report.shared_store.wavefronts,
            report.instructions_by_class.get("barrier", 0) // threads,
            report.global_store.requests,
        )
        cells.append([f"{each:,}" for each in counts])
    groups: list[list[Group]] = [[0, 1, 2, 3, None]] * len(types)
    return Picture().grid(cells, groups, rows=list(types), columns=columns).both()


# ---- Codes ---------------------------------------------------------------------------------------------

_OUTLIER = 100.0


def errors(lang: str) -> Figure:
    """The mean error of numbers around 1 with one outlier among them, by code and reach of the scale."""
    import ml_dtypes

    title, names = {
        "en": (
            "mean error of 64 × 512 normal numbers, one of them 100, in units of 0.001",
            ("int8, one scale", "int8, a row", "int8, 128 of a row", "e4m3, one scale", "e4m3, a row"),
        ),
        "zh": (
            "64 × 512 个正态分布的数（其中一个是 100）的平均误差，单位 0.001",
            ("int8，一个比例", "int8，每行", "int8，每 128 个", "e4m3，一个比例", "e4m3，每行"),
        ),
    }[lang]
    x = np.random.default_rng(0).standard_normal((64, 512))
    x[10, 200] = _OUTLIER
    shapes = ((1, -1), (64, 512), (256, 128))
    found: list[float] = []
    for pieces in shapes:
        rows = x.reshape(pieces)
        scale = np.abs(rows).max(1, keepdims=True) / 127
        found.append(float(np.abs(np.rint(rows / scale) * scale - rows).mean()))
    for pieces in shapes[:2]:
        rows = x.reshape(pieces)
        scale = np.abs(rows).max(1, keepdims=True) / 448
        codes = (rows / scale).astype(np.float32).astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
        found.append(float(np.abs(codes * scale - rows).mean()))
    bars = [(name, 1e3 * each, f"{1e3 * each:.1f}") for name, each in zip(names, found, strict=True)]
    return Picture().heading(title).bars(bars).both()


def steps(lang: str) -> Figure:
    """How far apart neighbouring codes are, by the size of a number, for the same largest one."""
    import ml_dtypes

    title = {
        "en": "distance of neighbouring codes, as a part of the largest number L",
        "zh": "相邻编码的距离，与最大的数 L 之比",
    }[lang]
    every = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn).astype(np.float64)
    fp8 = np.unique(every[np.isfinite(every) & (every >= 0)]) / 448
    int8 = np.arange(128) / 127
    parts = (1.5, 3, 6, 12, 25, 100, 1000)
    found = [
        [float(np.diff(codes)[np.searchsorted(codes, 1 / part, side="right") - 1]) for part in parts]
        for codes in (int8, fp8)
    ]
    cells = [[f"1/{1 / step:,.0f}" for step in row] for row in found]
    better: list[list[Group]] = [
        [0 if row[place] == min(found[0][place], found[1][place]) else None for place in range(len(parts))]
        for row in found
    ]
    columns = [f"L / {part}" for part in parts]
    return Picture().grid(cells, better, rows=("int8", "e4m3"), columns=columns, title=title).both()


# ---- What was measured ---------------------------------------------------------------------------------

_MEASURED = ("simple", "ballot", "vectorized", "triton", "torch.compile")


def speed(lang: str) -> Figure:
    """Packing and quantising on an H200, from the records."""
    from flashpath.bench.record_files import load_runs

    titles = {
        "en": ("2²⁸ flags packed in big order, µs", "64 segments of about 2²⁰ flags, µs",
               "32,768 rows of 4,096 bfloat16 to fp8, µs"),
        "zh": ("2²⁸ 个标志按大端序打包，µs", "64 段、每段约 2²⁰ 个标志，µs",
               "32768 行、每行 4096 个 bfloat16 到 fp8，µs"),
    }[lang]  # fmt: skip
    records = [
        each
        for each in load_runs(settings.content_dir("benchmarks/results"))
        if "H200" in str(each.environment.gpu) and each.ladder == "quantize" and each.time is not None
    ]
    wanted: tuple[dict[str, Any], ...] = (
        {"operation": "packbits", "n": 1 << 28, "order": "big"},
        {"operation": "segment_packbits", "segments": 64},
        {"operation": "quantize_fp8", "shape": [32768, 4096], "dtype": "bfloat16"},
    )
    picture = Picture()
    for title, parameters in zip(titles, wanted, strict=True):
        times = {
            each.implementation: each.time.median * 1e6
            for each in records
            if each.time is not None and parameters.items() <= each.parameters.items()
        }
        bars = [(name, times[name], f"{times[name]:,.0f}") for name in _MEASURED if name in times]
        picture.heading(title).bars(bars)
    return picture.both()
