"""The vector_add ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case, Ladder, Rung, Score, short
from flashpath.kernels.vector_add import host
from flashpath.kernels.vector_add.reference import reference
from flashpath.messages import Text


def _case(n: int, dtype: str) -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        return tuple(torch.randn(n, device=device, dtype=kind) for _ in "ab")

    return Case(
        name=f"{short(n)} {dtype}",
        inputs=inputs,
        bytes=3 * n * kind.itemsize,
        flops=n,
        dtype=dtype,
        parameters={"n": n, "dtype": dtype},
    )


def _cases() -> Sequence[Case]:
    return [
        _case(2**20, "float32"),
        _case(2**24, "float32"),
        _case(2**28, "float32"),
        _case(2**28, "bfloat16"),
    ]


def _sized(size: tuple[int, ...]) -> Case:
    return _case(size[0], "float32")


def _truth(inputs: tuple[Any, ...]) -> Any:
    a, b = inputs
    return a.double() + b.double()


def _plus(a: Any, b: Any) -> Any:
    return a + b


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    return with_compiled(device, _plus)


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    import torch

    torch.testing.assert_close(output, torch.add(*inputs), rtol=0, atol=0, equal_nan=True)


_entry = functools.partial(Rung, arch="sm_75")

LADDER = Ladder(
    name="vector_add",
    title=Text("Vector addition", "向量加法"),
    maths=Text("c[i] = a[i] + b[i]", "c[i] = a[i] + b[i]"),
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch's own addition, the truth that the others are checked against",
                "PyTorch 自己的加法：其余梯级以它为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "one call"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="one_per_thread",
            language="cuda",
            idea=Text(
                "one thread per element; neighbours touch neighbours, so accesses coalesce",
                "每个元素一个线程；相邻线程访问相邻元素，访问得以合并",
            ),
            file=host.ONE_PER_THREAD,
            function=host.one_per_thread,
            improves_on="reference",
            choices={"threads": (64, 128, 256, 512, 1024)},
            compile_for=cuda_compiles_for(host.ONE_PER_THREAD, "vector_add<float>"),
            readability=Score(5, "an index, a bound, an addition"),
            debugging=Score(4, "one thread is one element: printf and cuda-gdb show it directly"),
        ),
        _entry(
            name="grid_stride",
            language="cuda",
            idea=Text(
                "a grid of fixed size, each thread walking through the array: any n, any grid",
                "网格大小固定，每个线程循环走过数组（网格跨步循环）：任意 n，任意网格",
            ),
            file=host.GRID_STRIDE,
            function=host.grid_stride,
            improves_on="one_per_thread",
            choices={"threads": (128, 256, 512), "blocks_per_sm": (4, 8, 16)},
            compile_for=cuda_compiles_for(host.GRID_STRIDE, "vector_add<float>"),
            readability=Score(5, "a for loop that any C programmer reads; works for any grid"),
            debugging=Score(5, "runs with one block of one thread, then serially"),
        ),
        _entry(
            name="vectorized",
            language="cuda",
            idea=Text(
                "16 bytes per access: the same bytes in flight with a quarter of the instructions",
                "每次访问 16 字节：同样多的在途字节，指令只要四分之一",
            ),
            file=host.VECTORIZED,
            function=host.vectorized,
            improves_on="one_per_thread",
            choices={"threads": (128, 256, 512), "width_bytes": (4, 8, 16)},
            compile_for=cuda_compiles_for(host.VECTORIZED, "vector_add<float, 4>"),
            readability=Score(3, "needs alignment and a tail to be thought of"),
            debugging=Score(3, "the tail and misaligned slices are cases of their own"),
        ),
        _entry(
            name="triton",
            language="triton",
            idea=Text(
                "one program per block of elements; as fast as vectorized, in a third of the lines",
                "每块元素一个程序；与 vectorized 一样快，代码只有三分之一",
            ),
            file=host.FOLDER / "triton_vector_add.py",
            function=host.triton,
            improves_on="vectorized",
            choices={"block": (512, 1024, 2048, 4096), "warps": (4, 8)},
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"a_ptr": "*fp32", "b_ptr": "*fp32", "c_ptr": "*fp32", "n": "i32"},
                {"BLOCK": host.TRITON_BLOCK},
            ),
            readability=Score(5, "array code in Python; the mask is the only hint of the hardware"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
    ),
)
