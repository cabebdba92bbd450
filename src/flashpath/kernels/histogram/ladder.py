"""The histogram ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.histogram import host
from flashpath.kernels.histogram.reference import reference
from flashpath.kernels.rung import Case, Ladder, Rung, Score, short
from flashpath.messages import Message, Text


def _case(data: str, bins: int, dtype: str = "float32", n: int = 2**26) -> Case:
    import torch

    kind = getattr(torch, dtype)
    # No power of two apart: the reciprocal of 1,000 is of those that need most corrections.
    lo, hi = (-500, 500) if kind.is_floating_point else (-500_000, 500_000)

    def inputs(device: str) -> tuple[Any, ...]:
        if data == "equal":
            x = torch.full((n,), lo / 3 if kind.is_floating_point else lo // 3, device=device, dtype=kind)
        elif data == "normal":
            x = torch.randn(n, device=device, dtype=torch.float32).mul_(hi / 4).to(kind)
        elif kind.is_floating_point:
            x = torch.rand(n, device=device, dtype=torch.float32).mul_(hi - lo).add_(lo).to(kind)
        else:
            x = torch.randint(lo, hi, (n,), device=device, dtype=kind)
        return x, bins, lo, hi

    return Case(
        name=f"{data} {short(n)} {dtype}, {bins} bins",
        inputs=inputs,
        bytes=n * kind.itemsize + 8 * bins,
        dtype=dtype,
        parameters={"data": data, "n": n, "bins": bins, "dtype": dtype},
    )


def _cases() -> Sequence[Case]:
    return [
        _case("uniform", 256, n=2**20),
        _case("uniform", 256),
        _case("equal", 256),
        _case("normal", 256),
        _case("uniform", 256, "int32"),
        _case("uniform", 256, "bfloat16", 2**27),
        _case("uniform", 4096),
        _case("uniform", 32768),
        _case("uniform", 65536),
    ]


def _sized(size: tuple[int, ...]) -> Case:
    return _case("uniform", 256, n=size[0])


def _truth(inputs: tuple[Any, ...]) -> Any:
    return reference(*inputs)


def _histc(x: Any, bins: int, lo: float, hi: float) -> Any:
    """torch.histc, whose counts are of the input's type; of half types it counts the float32 numbers."""
    import torch

    return torch.histc(x if x.element_size() == 4 else x.float(), bins, lo, hi)


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    # torch.compile has no histogram of its own: it calls the same torch.histc. CuPy's is half as fast and has
    # its edges in float64, so that a few values fall into other bins.
    return {"torch.histc": _histc}


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Counts are exact and int64; those of torch.histc are of the type it counts in, which may round them."""
    import torch

    x, expected = inputs[0], reference(*inputs)
    if x.is_floating_point() and output.dtype == torch.float32:
        torch.testing.assert_close(output.double(), expected.double(), rtol=1e-4, atol=0)
    else:
        expected = expected if output.dtype == torch.int64 else expected.to(x.dtype)
        torch.testing.assert_close(output, expected, rtol=0, atol=0)


_entry = functools.partial(Rung, arch="sm_75", language="cuda")


def _compiles(file: Any, arguments: str = "float") -> Callable[[str], object]:
    return cuda_compiles_for(file, f"histogram<{arguments}>")


_CHOICE = "vectorized", Message("kernels.histogram-packs")


def _chosen(*_: Any, where: object = None) -> tuple[str, Message]:
    return _CHOICE


LADDER = Ladder(
    name="histogram",
    title=Text("Histogram", "直方图"),
    maths=Text(
        "counts[b] = how many x[i] in [lo, hi] have ⌊(x[i] - lo) bins / (hi - lo)⌋ = b; hi in the last bin",
        "counts[b] = [lo, hi] 内满足 ⌊(x[i] - lo) bins / (hi - lo)⌋ = b 的 x[i] 的个数；hi 归入最后一个区间",
    ),
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    chooses=_chosen,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch's tensor operations, rounding as torch.histc does, counted exactly",
                "用 PyTorch 的张量运算，舍入方式与 torch.histc 相同，计数精确",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "the formula, then bincount"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="global_atomics",
            idea=Text(
                "one atomic addition in the L2 cache per value: any number of bins, and all meet there",
                "每个值在 L2 缓存里做一次原子加：区间数不限，但全都挤在那里",
            ),
            file=host.GLOBAL_ATOMICS,
            function=host.global_atomics,
            improves_on="reference",
            compile_for=_compiles(host.GLOBAL_ATOMICS),
            readability=Score(5, "the definition of a histogram"),
            debugging=Score(5, "nothing is shared but the result"),
        ),
        _entry(
            name="shared",
            idea=Text(
                "privatised: each block counts in shared memory and adds its counts once",
                "私有化：每个线程块在共享内存里计数，最后只加一次",
            ),
            file=host.SHARED,
            function=host.shared,
            improves_on="global_atomics",
            compile_for=_compiles(host.SHARED),
            readability=Score(4, "clear, count, add up: two barriers"),
            debugging=Score(4, "a block can be run alone"),
        ),
        _entry(
            name="per_warp",
            idea=Text(
                "a copy for each warp: what is left are meetings within a warp",
                "每个 warp 一份计数：只剩 warp 内部的冲突",
            ),
            file=host.PER_WARP,
            function=host.per_warp,
            improves_on="shared",
            compile_for=_compiles(host.PER_WARP),
            readability=Score(4, "as shared, with a sum of the copies"),
            debugging=Score(4, "as shared"),
        ),
        _entry(
            name="aggregated",
            idea=Text(
                "lanes that hold the same bin send one of them, with their number",
                "落入同一区间的 lane 只派一个去加它们的个数",
            ),
            file=host.AGGREGATED,
            function=host.aggregated,
            improves_on="shared",
            compile_for=_compiles(host.AGGREGATED),
            readability=Score(3, "masks of lanes, which all have to come along"),
            debugging=Score(3, "a lane that leaves the loop early hangs its warp"),
        ),
        _entry(
            name="vectorized",
            idea=Text(
                "16-byte loads, two at once; division by multiplying; no branch",
                "16 字节加载，每次两个；用乘法代替除法；没有分支",
            ),
            file=host.VECTORIZED,
            function=host.vectorized,
            improves_on="shared",
            compile_for=_compiles(host.VECTORIZED, "float, 2"),
            readability=Score(3, "what makes a product the exact quotient has to be read twice"),
            debugging=Score(3, "heads, tails and full rounds are cases of their own"),
        ),
        _entry(
            name="per_lane",
            idea=Text(
                "a column of counts, and so a bank, for each lane: no lanes meet, whatever is added",
                "每个 lane 一列计数，也就是一个 bank：无论加什么，lane 之间都不冲突",
            ),
            file=host.PER_LANE,
            function=host.per_lane,
            improves_on="vectorized",
            compile_for=_compiles(host.PER_LANE, "float, 2"),
            readability=Score(3, "as vectorized, and a layout"),
            debugging=Score(3, "as vectorized"),
        ),
        Rung(
            name="triton",
            language="triton",
            arch="sm_75",
            idea=Text(
                "`tl.histogram` of one block after the other; programs add up with atomics",
                "逐块调用 `tl.histogram`；各程序用原子加汇总",
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="shared",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {
                    "x_ptr": "*fp32",
                    "counts_ptr": "*i64",
                    "n": "i32",
                    "bins": "i32",
                    "lo": "fp32",
                    "hi": "fp32",
                },
                {"BINS": 256, "BLOCK": host.TRITON_BLOCK},
            ),
            readability=Score(5, "bins found, bins counted"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
    ),
)
