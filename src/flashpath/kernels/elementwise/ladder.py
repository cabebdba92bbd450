"""The elementwise ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.elementwise import host
from flashpath.kernels.elementwise.messages import MESSAGES
from flashpath.kernels.elementwise.operations import OPERATIONS
from flashpath.kernels.elementwise.reference import TORCH, reference, truth
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case, Ladder, Rung, short
from flashpath.kernels.tolerance import check_against, check_shape, check_type
from flashpath.messages import Message

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
    check_shape(output, expected)
    check_type(output, x.dtype)
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


_PACKED = {"threads": (128, 256, 512), "packs": (1, 2, 4)}


def _kernel(file: Path, *sizes: int, operation: str = "gelu") -> str:
    return host.kernel_name(file, OPERATIONS[operation], "bfloat16", *sizes)


_ONE = "vectorized", Message("kernels.elementwise-one")
_CHAIN = "fused_chain", Message("kernels.elementwise-chain")


def _chosen(_x: Any, operation: str, *_: Any, where: object = None) -> tuple[str, Message]:
    return _CHAIN if len(OPERATIONS[operation].functors) > 1 else _ONE


LADDER = Ladder(
    name="elementwise",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    sized=_sized,
    sample=(2**16,),
    chooses=_chosen,
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.scalar,
            _kernel(host.SCALAR),
            improves_on="reference",
            choices={"threads": (64, 128, 256, 512, 1024)},
            readability=5,
            debugging=5,
        ),
        cuda_rung(
            host.grid_stride,
            _kernel(host.GRID_STRIDE),
            improves_on="scalar",
            choices={"threads": (128, 256, 512), "blocks_per_sm": (4, 8, 16, 32)},
            readability=4,
            debugging=5,
        ),
        cuda_rung(
            host.vectorized,
            _kernel(host.VECTORIZED, 8, host.PACKS[1]),
            improves_on="grid_stride",
            choices=_PACKED,
            readability=3,
            debugging=3,
        ),
        cuda_rung(
            host.fused_chain,
            _kernel(host.FUSED_CHAIN, 8, host.PACKS[2], operation="scale_add_gelu"),
            improves_on="vectorized",
            choices=_PACKED,
            readability=4,
            debugging=2,
        ),
        Rung(
            name="triton",
            language="triton",
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
            readability=5,
            debugging=3,
        ),
    ),
)
