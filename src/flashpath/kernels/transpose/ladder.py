"""The transpose ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case, Ladder, Rung, Score
from flashpath.kernels.transpose import host
from flashpath.kernels.transpose.reference import reference, torch_movement
from flashpath.messages import Text


def _case(operation: str, rows: int, cols: int, dtype: str) -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        return torch.randn(rows, cols, device=device, dtype=kind), operation

    return Case(
        name=f"{operation} {rows} × {cols} {dtype}",
        inputs=inputs,
        bytes=2 * rows * cols * kind.itemsize,
        dtype=dtype,
        parameters={"operation": operation, "shape": [rows, cols], "dtype": dtype},
    )


def _sized(size: tuple[int, ...]) -> Case:
    rows, cols = size
    return _case("transpose", rows, cols, "float32")


def _more_samples() -> Sequence[Case]:
    return [_case("copy", 256, 256, "float32")]


def _truth(inputs: tuple[Any, ...]) -> Any:
    return reference(*inputs)


def _cases() -> Sequence[Case]:
    # A copy of the same bytes stands beside a transpose, to be divided by; 16381 is prime.
    return [
        _case("transpose", 2048, 2048, "float32"),
        _case("transpose", 16384, 16384, "bfloat16"),
        _case("copy", 16384, 16384, "bfloat16"),
        _case("transpose", 16384, 16384, "float32"),
        _case("copy", 16384, 16384, "float32"),
        _case("transpose", 1048576, 256, "bfloat16"),
        _case("transpose", 16381, 16381, "bfloat16"),
        _case("transpose", 16381, 16381, "float32"),
    ]


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    return with_compiled(device, torch_movement)


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Bit for bit: what is moved is not computed with, so a NaN keeps its payload and -0 its sign."""
    import torch

    x, operation = inputs
    expected = x if operation == "copy" else x.t()
    assert output.dtype == x.dtype, f"the type is {output.dtype}, not {x.dtype}"
    assert output.shape == expected.shape, f"the shape is {tuple(output.shape)}, not {tuple(expected.shape)}"
    bits = torch.int32 if x.element_size() == 4 else torch.int16
    # A few rows at a time: large matrices leave no room for a second copy of each.
    rows = max(1, 2**26 // max(1, expected.shape[1]))
    for got, wanted in zip(output.split(rows), expected.split(rows), strict=True):
        wrong = (got.contiguous().view(bits) != wanted.contiguous().view(bits)).nonzero()
        assert not len(wrong), f"{len(wrong)} elements differ, the first at {wrong[0].tolist()}"


def _declines(only: str, case: Case) -> str | None:
    operation = case.parameters["operation"]
    return None if operation == only else f"does {only} only, not {operation}"


_transposes = functools.partial(
    Rung, arch="sm_75", language="cuda", declines=functools.partial(_declines, "transpose")
)


_ROWS_AT_ONCE = {"rows_at_once": (2, 4, 8, 16, 32)}


def _compiles(file: Any) -> Callable[[str], object]:
    return cuda_compiles_for(file, "transpose<float>")


LADDER = Ladder(
    name="transpose",
    title=Text("Copy and transpose", "拷贝与转置"),
    maths=Text(
        "out[c, r] = x[r, c]; a copy of the same bytes as the measure",
        "out[c, r] = x[r, c]；以拷贝同样多的字节为参照",
    ),
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("rows", "columns"),
    sized=_sized,
    sample=(256, 256),
    more_samples=_more_samples,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch's own strided copy, the truth that the others are checked against",
                "PyTorch 自己的跨步拷贝：其余梯级以它为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference,
            readability=Score(5, "one call"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        Rung(
            name="copy",
            language="cuda",
            arch="sm_75",
            idea=Text(
                "no transpose at all: the same bytes in the same order, the speed that transposes aim at",
                "完全不转置：按原顺序拷贝同样多的字节，这是转置要追赶的速度",
            ),
            file=host.COPY,
            function=host.copy,
            declines=functools.partial(_declines, "copy"),
            improves_on="reference",
            choices={"threads": (256, 512, 1024), "packs": (1, 2, 4, 8)},
            compile_for=cuda_compiles_for(host.COPY, "copy<float, 4>"),
            readability=Score(5, "loads, then stores"),
            debugging=Score(4, "packs and a tail"),
        ),
        _transposes(
            name="naive",
            idea=Text(
                "rows are read together and written apart: 32 sectors per store in place of 4",
                "按行一起读，却分散写：每次存储要访问 32 个扇区，而不是 4 个",
            ),
            file=host.NAIVE,
            function=host.naive,
            improves_on="copy",
            choices=_ROWS_AT_ONCE,
            compile_for=_compiles(host.NAIVE),
            readability=Score(5, "the formula, with a bound"),
            debugging=Score(5, "one thread is one column of a tile; nothing is shared"),
        ),
        _transposes(
            name="coalesced",
            idea=Text(
                "a tile in shared memory: both sides along rows; columns of the tile all in one bank",
                "分块放进共享内存：读写都沿行进行；但分块的一列都在同一个 bank",
            ),
            file=host.COALESCED,
            function=host.coalesced,
            improves_on="naive",
            choices=_ROWS_AT_ONCE,
            compile_for=_compiles(host.COALESCED),
            readability=Score(5, "in, barrier, out"),
            debugging=Score(4, "the tile can be printed; the conflicts only a profile shows"),
        ),
        _transposes(
            name="padded",
            idea=Text(
                "rows of the tile one word longer: a column lies in 32 banks",
                "分块的每行多填充一个字：一列分布在 32 个 bank 里",
            ),
            file=host.PADDED,
            function=host.padded,
            improves_on="coalesced",
            choices=_ROWS_AT_ONCE,
            compile_for=_compiles(host.PADDED),
            readability=Score(5, "one more word in a declaration"),
            debugging=Score(4, "as coalesced"),
        ),
        _transposes(
            name="swizzled",
            idea=Text(
                "column c of row r at place c ^ r: no conflict and no padding",
                "第 r 行第 c 列存放在 c ^ r 处：没有冲突，也不用填充",
            ),
            file=host.SWIZZLED,
            function=host.swizzled,
            improves_on="padded",
            choices=_ROWS_AT_ONCE,
            compile_for=_compiles(host.SWIZZLED),
            readability=Score(4, "XOR has to be understood once"),
            debugging=Score(3, "what lies where in the tile has to be worked out"),
        ),
        _transposes(
            name="vectorized",
            idea=Text(
                "squares of 16-byte packs turned in registers; shared memory hands packs over, swizzled",
                "在寄存器里转置由 16 字节组构成的方块；各组经共享内存交错传递",
            ),
            file=host.VECTORIZED,
            function=host.vectorized,
            improves_on="swizzled",
            choices={"threads": (128, 256)},
            compile_for=cuda_compiles_for(host.VECTORIZED, "transpose<float, 4, true>"),
            readability=Score(3, "three index spaces: squares, packs, tiles"),
            debugging=Score(3, "widths, edges and the order of tiles are cases of their own"),
        ),
        _transposes(
            name="triton",
            language="triton",
            idea=Text(
                "load a tile, `tl.trans`, store it; the compiler goes through shared memory by itself",
                "加载一个分块，`tl.trans`，再存回；编译器自己借道共享内存",
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            choices={"tile": (32, 64, 128), "warps": (4, 8)},
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "cols": "i32"},
                {"TILE": host.TILE_BYTES // 4},
            ),
            readability=Score(5, "one line says what is done"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
    ),
)
