"""The scan ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.peers import cupy_stream, library, with_compiled
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, Score, short
from flashpath.kernels.scan import host, problem, single_pass
from flashpath.kernels.scan.checking import check, exact_scan
from flashpath.kernels.scan.reference import reference, torch_scan
from flashpath.messages import Text


def _case(
    op: str,
    dtype: str,
    shape: tuple[int, ...],
    name: str,
    exclusive: bool = False,
    heads: float | None = None,
) -> Case:
    import torch

    kind = getattr(torch, dtype)
    n = math.prod(shape)
    output_bytes = 8 if dtype == "int32" and op == "sum" else kind.itemsize

    def inputs(device: str) -> tuple[Any, ...]:
        if dtype == "int32":
            x = torch.randint(-1000, 1000, shape, device=device, dtype=kind)
        else:
            x = torch.randn(shape, device=device, dtype=kind)
        flags = None if heads is None else torch.rand(shape, device=device) < heads
        return x, op, exclusive, flags

    variant = "exclusive " if exclusive else "" if heads is None else "segmented "
    return Case(
        name=f"{variant}{op} {name} {dtype}",
        inputs=inputs,
        bytes=n * (kind.itemsize + output_bytes + (heads is not None)),
        flops=n if op == "sum" else 0,
        dtype=dtype,
        parameters={
            "op": op,
            "shape": list(shape),
            "dtype": dtype,
            "exclusive": exclusive,
            "segmented": heads is not None,
        },
    )


def _sized(size: tuple[int, ...]) -> Case:
    return _case("sum", "float32", size, short(size[0]))


def _more_samples() -> Sequence[Case]:
    return [_case("sum", "float32", (64, 1024), "64 × 1024")]


def _truth(inputs: tuple[Any, ...]) -> Any:
    return exact_scan(*inputs)


def _cases() -> Sequence[Case]:
    return [
        _case("sum", "float32", (2**20,), "2^20"),
        _case("sum", "float32", (2**26,), "2^26"),
        _case("sum", "float32", (2**28,), "2^28"),
        _case("sum", "bfloat16", (2**26,), "2^26"),
        _case("sum", "int32", (2**26,), "2^26"),
        _case("max", "float32", (2**26,), "2^26"),
        _case("sum", "float32", (2**26,), "2^26", exclusive=True),
        _case("sum", "float32", (2**26,), "2^26", heads=2**-21),
        _case("sum", "float32", (32768, 4096), "32768 × 4096"),
    ]


def _cupy(cupy: Any, x: Any, op: str, exclusive: bool, flags: Any | None) -> Any:
    """CuPy's running sum on torch's stream and memory."""
    import torch

    del op, exclusive, flags
    with cupy_stream(cupy, x):
        # Only without an axis does CuPy call CUB; along one it takes a kernel of its own.
        return torch.from_dlpack(cupy.cumsum(cupy.from_dlpack(x), axis=None if x.dim() == 1 else 1))


def _torch_declines(case: Case) -> str | None:
    return "has no segmented scan" if case.parameters["segmented"] else None


def _cupy_declines(case: Case) -> str | None:
    is_plain = case.parameters["op"] == "sum" and not case.parameters["exclusive"]
    if case.dtype == "bfloat16":
        return "has no bfloat16"
    return _torch_declines(case) if is_plain else "has inclusive sums only"


def _peers(device: str) -> Mapping[str, Peer]:
    compiled = with_compiled(device, torch_scan)
    peers = {name: Peer(function, _torch_declines) for name, function in compiled.items()}
    if device == "cuda" and (cupy := library("cupy")):
        peers["CuPy (CUB)"] = Peer(functools.partial(_cupy, cupy), _cupy_declines)
    return peers


def _rows_only(case: Case) -> str | None:
    return "would scan a vector with one block" if len(case.parameters["shape"]) == 1 else None


def _plain_vectors_only(case: Case) -> str | None:
    if case.parameters["segmented"]:
        return "leaves segments to decoupled_lookback"
    return "leaves rows to decoupled_lookback" if len(case.parameters["shape"]) > 1 else None


_entry = functools.partial(Rung, arch="sm_75", language="cuda")


def _compiles(file: Any) -> Callable[[str], object]:
    return cuda_compiles_for(file, "scan<Whole<Sum<float>>, float, float>")


LADDER = Ladder(
    name="scan",
    title=Text("Scan", "扫描（前缀和）"),
    maths=Text(
        "out[i] = x[0] ⊕ … ⊕ x[i]: sum, max; inclusive, exclusive, segmented; of a vector or of each row",
        "out[i] = x[0] ⊕ … ⊕ x[i]：sum、max；包含、不包含、分段；对向量或每一行",
    ),
    cases=_cases,
    peers=_peers,
    check=check,
    truth=_truth,
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
                "PyTorch's cumsum and cummax, whose rules for NaN and types the others follow",
                "PyTorch 的 cumsum 和 cummax；NaN 和类型的规则以它们为准",
            ),
            file=problem.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "one call; segments are scanned one by one"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="hillis_steele",
            idea=Text(
                "log2(n) doublings in shared memory; each block's total is scanned the same way",
                "在共享内存里倍增 log2(n) 次；各线程块的总和用同样的方法扫描",
            ),
            file=host.HILLIS_STEELE,
            function=host.hillis_steele,
            improves_on="reference",
            compile_for=_compiles(host.HILLIS_STEELE),
            readability=Score(5, "five lines of loop"),
            debugging=Score(4, "every step is in shared memory; barriers must be met by all"),
        ),
        _entry(
            name="blelloch",
            idea=Text(
                "up a tree with the sums, down it with what stands before: 2 n operations, not n log2(n)",
                "沿树向上求和，再向下传递前面的和：2 n 次运算，而不是 n log2(n) 次",
            ),
            file=host.BLELLOCH,
            function=host.blelloch,
            improves_on="hillis_steele",
            compile_for=_compiles(host.BLELLOCH),
            readability=Score(4, "the way down has to be drawn once to be believed"),
            debugging=Score(4, "as hillis_steele; the conflicts only a profile shows"),
        ),
        _entry(
            name="blelloch_padded",
            idea=Text(
                "a gap after every 32 nodes, so that the nodes of a level lie in different banks",
                "每 32 个结点后填充一格，使同一层的结点落在不同的 bank",
            ),
            file=host.BLELLOCH_PADDED,
            function=host.blelloch_padded,
            improves_on="blelloch",
            compile_for=_compiles(host.BLELLOCH_PADDED),
            readability=Score(3, "every index goes through a function"),
            debugging=Score(4, "as blelloch"),
        ),
        _entry(
            name="warp",
            idea=Text(
                "lanes hand their states over in registers: one barrier instead of 20",
                "lane 之间通过寄存器传递状态：一个屏障代替 20 个",
            ),
            file=host.WARP,
            function=host.warp,
            improves_on="blelloch_padded",
            compile_for=_compiles(host.WARP),
            readability=Score(4, "shuffles have to be known; then it is short"),
            debugging=Score(3, "what is in registers has to be printed lane by lane"),
        ),
        _entry(
            name="decoupled_lookback",
            idea=Text(
                "one pass: tiles publish their totals and look back at those before; always the same bits",
                "一遍完成：各分块公布自己的总和，并回看前面的分块；每次结果逐位相同",
            ),
            file=single_pass.DECOUPLED_LOOKBACK,
            function=single_pass.decoupled_lookback,
            improves_on="warp",
            compile_for=cuda_compiles_for(
                single_pass.DECOUPLED_LOOKBACK, "scan<Whole<Sum<float>>, 4, float>"
            ),
            readability=Score(2, "blocks wait for each other; why nobody waits for ever takes a page"),
            debugging=Score(2, "a mistake hangs or shows in one run of many; fp.sanitize sees both"),
        ),
        Rung(
            name="lookahead",
            language="cuda",
            arch="sm_80",  # cp.async
            idea=Text(
                "a ring of tiles in shared memory: totals go out rounds before they are asked for",
                "共享内存里的一圈分块：总和在被用到的几轮之前就已公布",
            ),
            file=single_pass.LOOKAHEAD,
            function=single_pass.lookahead,
            improves_on="decoupled_lookback",
            choices={"ring": ((3, 1), (3, 2), (4, 1), (4, 2), (4, 3))},
            compile_for=cuda_compiles_for(single_pass.LOOKAHEAD, "scan<Whole<Sum<float>>, 4, 2, float>"),
            declines=_plain_vectors_only,
            readability=Score(2, "every warp is in two rounds at once, and has to be drawn on a time line"),
            debugging=Score(2, "as decoupled_lookback; and what is in a slot when is counted, not named"),
        ),
        _entry(
            name="by_row",
            idea=Text(
                "a warp or a block for each row walks along it, carrying what it has so far",
                "每行一个 warp 或一个线程块，带着已有的结果向前走",
            ),
            file=host.BY_ROW,
            function=host.by_row,
            improves_on="decoupled_lookback",
            compile_for=cuda_compiles_for(host.BY_ROW, "scan<Whole<Sum<float>>, 8, 4, float>"),
            declines=_rows_only,
            readability=Score(4, "no block waits for another"),
            debugging=Score(4, "one row can be followed alone"),
        ),
        Rung(
            name="triton",
            language="triton",
            arch="sm_75",
            idea=Text(
                "⊕ written once for two scalars; totals of large parts, then each part from end to end",
                "只为两个标量写一次 ⊕；先求各大段的总和，再从头到尾扫描每一段",
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="warp",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {
                    "x_ptr": "*fp32",
                    "totals_ptr": "*fp32",
                    "out_ptr": "*fp32",
                    "n": "i64",
                    "part_length": "i64",
                },
                {
                    "heads_ptr": None,
                    "cuts_ptr": None,
                    "OP": "sum",
                    "EXCLUSIVE": False,
                    "TOTALS_ONLY": False,
                    "PARTS": 1024,
                    "BLOCK": host.TRITON_BLOCKS[-1],
                },
            ),
            readability=Score(
                3, "array code in Python, but two operations and two kinds of scan in one kernel"
            ),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
        _entry(
            name="cub_block",
            idea=Text(
                "CUB's block-wide load, scan and store with a functor of our own",
                "CUB 的线程块级加载、扫描和存储，配上自己的函数对象",
            ),
            file=host.CUB_BLOCK,
            function=host.cub_block,
            improves_on="warp",
            compile_for=_compiles(host.CUB_BLOCK),
            readability=Score(4, "what happens is said, how it happens is the library's"),
            debugging=Score(3, "errors of types are pages long; its shared memory is opaque"),
        ),
    ),
)
