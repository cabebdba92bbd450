"""The elementwise ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.elementwise import host
from flashpath.kernels.elementwise.operations import OPERATIONS
from flashpath.kernels.elementwise.reference import TORCH, reference, truth
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case, Ladder, Rung, Score, short
from flashpath.kernels.tolerance import check_against
from flashpath.messages import Message, Text

_SCALARS = {"factor": 0.7, "low": -0.5, "high": 1.25}
# Elements that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_CHECKED_AT_ONCE = 2**24


def _case(operation: str, shape: tuple[int, ...], dtype: str, size: str) -> Case:
    """`shape` is the output's."""
    import torch

    kind, what = getattr(torch, dtype), OPERATIONS[operation]
    n = functools.reduce(int.__mul__, shape)
    of_x = (*shape[:-1], 2 * shape[-1]) if what.gated else shape

    def inputs(device: str) -> tuple[Any, ...]:
        def drawn() -> Any:
            return torch.randn(of_x, device=device, dtype=kind)

        operands = [_SCALARS[name] if name in _SCALARS else drawn() for name in what.operands]
        return (drawn(), operation, *operands)

    return Case(
        name=f"{operation} {size} {dtype}",
        inputs=inputs,
        bytes=what.streams * n * kind.itemsize,
        flops=what.flops * n,
        dtype=dtype,
        parameters={"operation": operation, "shape": list(shape), "dtype": dtype},
    )


def _flat(operation: str, log2_n: int, dtype: str) -> Case:
    return _case(operation, (2**log2_n,), dtype, f"2^{log2_n}")


def _rows(operation: str, d: int) -> Case:
    return _case(operation, (32768, d), "bfloat16", f"32768×{d}")


def _cases() -> Sequence[Case]:
    simple = ("scale", "add", "relu", "gelu", "gelu_tanh", "silu", "clamp")
    return [
        _flat("gelu", 20, "float32"),
        _flat("gelu", 24, "float32"),
        *(_flat(operation, 28, "bfloat16") for operation in simple),
        _flat("add", 28, "float32"),
        _flat("gelu", 28, "float32"),
        *(_rows("silu_and_mul", d) for d in (1024, 4096, 16384)),
        _rows("gelu_and_mul", 4096),
        _rows("gelu_tanh_and_mul", 4096),
        _flat("scale_add_gelu", 28, "bfloat16"),
    ]


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    # One function for each operation: a compiled one would be compiled again when the operation changes.
    each = {name: with_compiled(device, function) for name, function in TORCH.items()}

    def peer(library: str, x: Any, operation: str, *operands: Any) -> Any:
        return each[operation][library](x, *operands)

    return {library: functools.partial(peer, library) for library in each["add"]}


def _truth(inputs: tuple[Any, ...]) -> Any:
    x, operation, *operands = inputs
    return truth(x, operation, *operands)


def _sized(size: tuple[int, ...]) -> Case:
    return _case("scale_add_gelu", size, "bfloat16", short(size[0]))


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error that torch makes in the same type."""
    import torch

    x, operation, *operands = inputs
    gated = OPERATIONS[operation].gated
    expected = (*x.shape[:-1], x.shape[-1] // 2) if gated else tuple(x.shape)
    assert tuple(output.shape) == expected, f"the shape is {tuple(output.shape)}, not {expected}"
    assert output.dtype == x.dtype, f"the type is {output.dtype}, not {x.dtype}"
    if not x.numel():
        return
    width = x.shape[-1] if gated else 1
    rows = max(_CHECKED_AT_ONCE // width, 1)

    def pieces(argument: Any) -> Iterable[Any]:
        if not isinstance(argument, torch.Tensor):
            return itertools.repeat(argument)
        tensor: Any = argument
        return tensor.reshape(-1, width).split(rows)

    parts = output.reshape(-1, max(width // 2, 1)).split(rows)
    for part, *arguments in zip(parts, *map(pieces, (x, *operands)), strict=False):
        check_part(part, operation, *arguments)


def check_part(output: Any, operation: str, x: Any, *operands: Any) -> None:
    """`_check` of tensors that are small enough for float64."""
    import torch

    exact = truth(x, operation, *operands)
    if x.is_floating_point():
        check_against(output, exact, TORCH[operation](x, *operands))
    else:
        torch.testing.assert_close(output, exact, rtol=0, atol=0)


_entry = functools.partial(Rung, arch="sm_75")
_PACKED = {"threads": (128, 256, 512), "packs": (1, 2, 4)}


def _compiles(file: Any, *sizes: int, operation: str = "gelu") -> Callable[[str], object]:
    return cuda_compiles_for(file, host.kernel_name(file, OPERATIONS[operation], "bfloat16", *sizes))


_ONE = "vectorized", Message("kernels.elementwise-one")
_CHAIN = "fused_chain", Message("kernels.elementwise-chain")


def _chosen(_x: Any, operation: str, *_: Any, where: object = None) -> tuple[str, Message]:
    return _CHAIN if len(OPERATIONS[operation].functors) > 1 else _ONE


LADDER = Ladder(
    name="elementwise",
    title=Text("Elementwise operations", "逐元素运算"),
    maths=Text(
        "out[i] = f(x[i], y[i]); gated: out[r, c] = act(x[r, c]) * x[r, d + c]",
        "out[i] = f(x[i], y[i])；门控：out[r, c] = act(x[r, c]) * x[r, d + c]",
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
                "PyTorch in float64, rounded once: the truth that the others are checked against",
                "PyTorch 用 float64 计算，只舍入一次：其余梯级以它为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "each operation as the textbook has it"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="scalar",
            language="cuda",
            idea=Text(
                "one thread per element; the operation is a functor, a template argument of one kernel",
                "每个元素一个线程；运算是函数对象，作为核函数的模板参数",
            ),
            file=host.SCALAR,
            function=host.scalar,
            improves_on="reference",
            choices={"threads": (64, 128, 256, 512, 1024)},
            compile_for=_compiles(host.SCALAR),
            readability=Score(5, "an index, a bound, a call"),
            debugging=Score(5, "one thread is one element: printf and cuda-gdb show it directly"),
        ),
        _entry(
            name="grid_stride",
            language="cuda",
            idea=Text(
                "a grid of fixed size, each thread walking; gated rows are found by carrying, not dividing",
                "网格大小固定，线程循环处理；门控的行号靠进位得到，不用除法",
            ),
            file=host.GRID_STRIDE,
            function=host.grid_stride,
            improves_on="scalar",
            choices={"threads": (128, 256, 512), "blocks_per_sm": (4, 8, 16, 32)},
            compile_for=_compiles(host.GRID_STRIDE),
            readability=Score(4, "a for loop; the step in rows and columns takes a second look"),
            debugging=Score(5, "runs with one block of one thread, then serially"),
        ),
        _entry(
            name="vectorized",
            language="cuda",
            idea=Text(
                "16 bytes per access, up to four of them in flight per thread, for any alignment and tail",
                "每次访问 16 字节，每个线程最多四次同时在途，任何对齐和尾部都支持",
            ),
            file=host.VECTORIZED,
            function=host.vectorized,
            improves_on="grid_stride",
            choices=_PACKED,
            compile_for=_compiles(host.VECTORIZED, 8, host.PACKS[1]),
            readability=Score(3, "packs, tiles, a tail: the operation is the smallest part"),
            debugging=Score(3, "the tail and misaligned slices are cases of their own"),
        ),
        _entry(
            name="fused_chain",
            language="cuda",
            idea=Text(
                "scale, add and activation in one pass: 3 n elements moved in place of 7 n, rounded once",
                "缩放、加法、激活一遍完成：搬运 3 n 个元素而不是 7 n 个，只舍入一次",
            ),
            file=host.FUSED_CHAIN,
            function=host.fused_chain,
            improves_on="vectorized",
            choices=_PACKED,
            compile_for=_compiles(host.FUSED_CHAIN, 8, host.PACKS[2], operation="scale_add_gelu"),
            readability=Score(4, "a fold over functors, on the loop of the rung before"),
            debugging=Score(2, "what lies between the steps is in registers only"),
        ),
        _entry(
            name="triton",
            language="triton",
            idea=Text(
                "one program per block; the chain is fused, the widths are chosen by the compiler",
                "每块数据一个程序；整条链融合，访问宽度由编译器选择",
            ),
            file=host.FOLDER / "triton_elementwise.py",
            function=host.triton,
            improves_on="fused_chain",
            choices={"block_bytes": (2048, 4096, 8192, 16384), "warps": (4, 8)},
            compile_for=triton_compiles_for(
                host.triton_map,
                {"x_ptr": "*bf16", "y_ptr": "*bf16", "out_ptr": "*bf16"}
                | {"first": "fp32", "second": "fp32", "n": "i32"},
                {"STEP0": "Scale", "STEP1": "Add", "STEP2": "Gelu"}
                | {"READS_Y": True, "BLOCK": host.TRITON_BYTES // 2},
            ),
            readability=Score(5, "the formulas in Python; the mask is the only hint of the hardware"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
    ),
)
