"""The reduction ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.peers import cupy_stream, library, with_compiled
from flashpath.kernels.reduction import host
from flashpath.kernels.reduction.reference import reference, torch_reduction
from flashpath.kernels.rung import Case, Ladder, Rung, Score, short
from flashpath.messages import Text


def _case(op: str, dtype: str, shape: tuple[int, ...], name: str) -> Case:
    import torch

    kind = getattr(torch, dtype)
    n = math.prod(shape)
    outputs, output_bytes = (shape[0] if len(shape) == 2 else 1), 8 if op == "argmax" else kind.itemsize

    def inputs(device: str) -> tuple[Any, ...]:
        return torch.randn(shape, device=device, dtype=kind), op, -1 if len(shape) == 2 else None

    return Case(
        name=f"{op} {name} {dtype}",
        inputs=inputs,
        bytes=n * kind.itemsize + outputs * output_bytes,
        flops=n if op in ("sum", "mean") else 0,
        dtype=dtype,
        parameters={"op": op, "shape": list(shape), "dtype": dtype},
    )


def _cases() -> Sequence[Case]:
    whole = [
        ("sum", "float32", 20),
        ("sum", "float32", 24),
        ("sum", "float32", 28),
        ("sum", "bfloat16", 28),
        ("max", "float32", 28),
        ("mean", "float32", 28),
        ("argmax", "float32", 28),
        ("argmax", "bfloat16", 28),
    ]
    rows = [
        ("sum", "bfloat16", 32768, 1024),
        ("sum", "bfloat16", 32768, 4096),
        ("sum", "bfloat16", 32768, 16384),
        ("argmax", "bfloat16", 32768, 4096),
        ("sum", "float32", 16, 2**24),
    ]
    return [_case(op, dtype, (2**log2_n,), f"2^{log2_n}") for op, dtype, log2_n in whole] + [
        _case(op, dtype, (height, n), f"{height} × {n}") for op, dtype, height, n in rows
    ]


def _cupy(cupy: Any, x: Any, op: str, dim: int | None) -> Any:
    """CuPy's reduction, which is CUB's for whole tensors, on torch's stream and memory."""
    import torch

    with cupy_stream(cupy, x):
        return torch.from_dlpack(getattr(cupy, op)(cupy.from_dlpack(x), axis=dim))


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    peers = with_compiled(device, torch_reduction)
    if device == "cuda" and (cupy := library("cupy")):
        peers["CuPy (CUB)"] = functools.partial(_cupy, cupy)
    return peers


def allowed_error(x: Any, op: str, dim: int | None) -> Any:
    """How far a sum or a mean may be from the truth.

    Twice torch's own error in the same type, one rounding to the output's type, and four times what the
    roundings of a float32 tree come to if their signs are random: those near the root are of the size of the
    result, those of each level together of the size of √Σx².
    """
    import torch

    exact = _truth(x, op, dim)
    n = max(1, x.numel() if dim is None else x.shape[1])
    of_torch = (reference(x, op, dim).double() - exact).abs()
    norm = torch.sum(x.double().square(), dim).sqrt() / (n if op == "mean" else 1)
    of_tree = 2**-24 * (exact.abs() + math.sqrt(math.log2(n) + 1) * norm)
    return 2 * of_torch + torch.finfo(x.dtype).eps * exact.abs() + 4 * of_tree


def _exact(inputs: tuple[Any, ...]) -> Any:
    x, op, dim = inputs
    return _truth(x, op, dim)


def _sized(size: tuple[int, ...]) -> Case:
    return _case("sum", "float32", size, short(size[0]))


def _more_samples() -> Sequence[Case]:
    return [_case("sum", "bfloat16", (64, 1024), "64 × 1024")]


def _truth(x: Any, op: str, dim: int | None) -> Any:
    import torch

    return {"sum": torch.sum, "mean": torch.mean}[op](x, dim, dtype=torch.float64)


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    import torch

    x, op, dim = inputs
    expected = reference(x, op, dim)
    if op in ("max", "argmax") or not x.dtype.is_floating_point:
        torch.testing.assert_close(output, expected, rtol=0, atol=0, equal_nan=True)
        return
    assert output.dtype == expected.dtype, f"{output.dtype}, not {expected.dtype}"
    assert output.shape == expected.shape, f"{output.shape}, not {expected.shape}"
    exact, allowed = _truth(x, op, dim), allowed_error(x, op, dim)
    # What is infinite or NaN has no error: it has to be the same.
    exact = torch.where(allowed.isfinite(), exact, expected.double())
    allowed = torch.where(allowed.isfinite(), allowed, 0.0)
    error = torch.where(output == exact, 0.0, (output.double() - exact).abs())
    is_right = (error <= allowed) | (output.isnan() & exact.isnan())
    assert bool(is_right.all()), f"error {error.max().item():.3g}, allowed {allowed.max().item():.3g}"


def _wholes_only(case: Case) -> str | None:
    return "reduces whole tensors, not rows" if len(case.parameters["shape"]) == 2 else None


def _rows_only(case: Case) -> str | None:
    return "reduces rows, not whole tensors" if len(case.parameters["shape"]) == 1 else None


_entry = functools.partial(Rung, arch="sm_75", language="cuda")


def _compiles(file: Any, arguments: str = "Sum<float>, float") -> Callable[[str], object]:
    return cuda_compiles_for(file, f"reduce<{arguments}>")


LADDER = Ladder(
    name="reduction",
    title=Text("Reduction", "归约"),
    maths=Text(
        "out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]: sum, max, mean, argmax; of the whole tensor or of each row",
        "out = x[0] ⊕ x[1] ⊕ … ⊕ x[n - 1]：sum、max、mean、argmax；对整个张量或每一行",
    ),
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_exact,
    sized=_sized,
    sample=(2**16,),
    more_samples=_more_samples,
    chooses=host.chosen,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch's own reductions, whose rules for NaN, ties and types the others follow",
                "PyTorch 自己的归约；NaN、相等元素和类型的规则以它为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "one call"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="divergent",
            idea=Text(
                "a tree in shared memory, neighbours first; most lanes of every warp idle",
                "共享内存里的归约树，先合并相邻元素；每个 warp 的大多数 lane 空闲",
            ),
            file=host.DIVERGENT,
            function=host.divergent,
            declines=_wholes_only,
            improves_on="reference",
            compile_for=_compiles(host.DIVERGENT),
            readability=Score(5, "the tree as one draws it"),
            debugging=Score(4, "every step is in shared memory; barriers must be met by all"),
        ),
        _entry(
            name="bank_conflicted",
            idea=Text(
                "working threads side by side, so whole warps rest; their data meet in the same banks",
                "工作的线程相邻，于是整个 warp 可以空闲；但数据落在同一批 bank 里",
            ),
            file=host.BANK_CONFLICTED,
            function=host.bank_conflicted,
            declines=_wholes_only,
            improves_on="divergent",
            compile_for=_compiles(host.BANK_CONFLICTED),
            readability=Score(4, "thread and data are no longer at the same place"),
            debugging=Score(4, "as divergent; the conflicts only a profile shows"),
        ),
        _entry(
            name="sequential",
            idea=Text(
                "the upper half folds onto the lower: threads and data both side by side",
                "上半折叠到下半：线程和数据都相邻",
            ),
            file=host.SEQUENTIAL,
            function=host.sequential,
            declines=_wholes_only,
            improves_on="bank_conflicted",
            compile_for=_compiles(host.SEQUENTIAL),
            readability=Score(5, "the shortest loop of the ladder"),
            debugging=Score(4, "every step is in shared memory"),
        ),
        _entry(
            name="first_add_on_load",
            idea=Text(
                "two elements per thread: the widest step of the tree happens in registers",
                "每个线程两个元素：归约树最宽的一步在寄存器里完成",
            ),
            file=host.FIRST_ADD_ON_LOAD,
            function=host.first_add_on_load,
            declines=_wholes_only,
            improves_on="sequential",
            compile_for=_compiles(host.FIRST_ADD_ON_LOAD),
            readability=Score(4, "a second bound to think of"),
            debugging=Score(4, "as sequential"),
        ),
        _entry(
            name="warp_shuffle",
            idea=Text(
                "lanes hand their states over in registers: one barrier instead of nine",
                "lane 之间通过寄存器传递状态：一个屏障代替九个",
            ),
            file=host.WARP_SHUFFLE,
            function=host.warp_shuffle,
            declines=_wholes_only,
            improves_on="first_add_on_load",
            compile_for=_compiles(host.WARP_SHUFFLE),
            readability=Score(4, "shuffles have to be known; then it is short"),
            debugging=Score(3, "what is in registers has to be printed lane by lane"),
        ),
        _entry(
            name="vectorized",
            idea=Text(
                "16-byte loads, four at once, thousands of elements per block: as fast as memory is read",
                "16 字节加载，每次四个，每个线程块数千个元素：达到内存的读取速度",
            ),
            file=host.VECTORIZED,
            function=host.vectorized,
            declines=_wholes_only,
            improves_on="warp_shuffle",
            compile_for=_compiles(host.VECTORIZED),
            readability=Score(3, "what lies before and after the packs needs cases of its own"),
            debugging=Score(3, "alignment, full rounds, the last round and the rest each go another way"),
        ),
        _entry(
            name="single_pass",
            idea=Text(
                "one launch: the last block to arrive reduces all blocks' results, always in the same order",
                "一次启动：最后到达的线程块归约所有线程块的结果，顺序始终相同",
            ),
            file=host.SINGLE_PASS,
            function=host.single_pass,
            choices={"blocks_per_sm": (1, 2, 4, 8, 16)},
            improves_on="vectorized",
            compile_for=_compiles(host.SINGLE_PASS),
            readability=Score(3, "its correctness rests on two fences and a counter"),
            debugging=Score(2, "a missing fence shows once in a million runs; fp.sanitize sees it"),
        ),
        _entry(
            name="by_row",
            idea=Text(
                "8 threads, a warp or a block for each row, as its length asks for",
                "按行的长度，每行用 8 个线程、一个 warp 或一个线程块",
            ),
            file=host.BY_ROW,
            function=host.by_row,
            declines=_rows_only,
            improves_on="single_pass",
            compile_for=_compiles(host.BY_ROW, "Sum<float>, 32, float"),
            readability=Score(4, "no launch after another, no partial results"),
            debugging=Score(4, "one row can be followed alone"),
        ),
        Rung(
            name="triton",
            language="triton",
            arch="sm_75",
            idea=Text(
                "⊕ written once for two scalars; the compiler makes the tree, for tensors and for rows",
                "只为两个标量写一次 ⊕；张量和行的归约树都由编译器生成",
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "count": "i32"},
                {
                    "index_ptr": None,
                    "out_index_ptr": None,
                    "OP": "sum",
                    "IS_LAST": False,
                    "BLOCK": host.TRITON_BLOCKS[-1],
                },
            ),
            readability=Score(4, "array code in Python; four operations in one kernel cost branches"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
        _entry(
            name="cub_block",
            idea=Text(
                "CUB's block-wide load and reduction with a functor of our own",
                "CUB 的线程块级加载和归约，配上自己的函数对象",
            ),
            file=host.CUB_BLOCK,
            function=host.cub_block,
            declines=_wholes_only,
            improves_on="warp_shuffle",
            compile_for=_compiles(host.CUB_BLOCK),
            readability=Score(4, "what happens is said, how it happens is the library's"),
            debugging=Score(3, "errors of types are pages long; its shared memory is opaque"),
        ),
    ),
)
