"""The transpose ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.declines import takes
from flashpath.kernels.peers import with_compiled
from flashpath.kernels.rung import Case, Ladder, Rung
from flashpath.kernels.tolerance import WrongResult, check_shape, check_type
from flashpath.kernels.transpose import host
from flashpath.kernels.transpose.messages import MESSAGES
from flashpath.kernels.transpose.reference import reference, torch_movement
from flashpath.messages import told


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
    check_type(output, x.dtype)
    check_shape(output, expected.shape)
    bits = torch.int32 if x.element_size() == 4 else torch.int16
    # A few rows at a time: large matrices leave no room for a second copy of each.
    rows = max(1, 2**26 // max(1, expected.shape[1]))
    for got, wanted in zip(output.split(rows), expected.split(rows), strict=True):
        wrong = (got.contiguous().view(bits) != wanted.contiguous().view(bits)).nonzero()
        if len(wrong):
            row, column = wrong[0].tolist()
            raise WrongResult(
                "kernels.different-elements",
                count=len(wrong),
                elements=got.numel(),
                at=str([row, column]),
                got=got[row, column].item(),
                expected=wanted[row, column].item(),
            )


_transposes_only = takes("operation", "transpose", otherwise=told("kernels.transpose.transposes-only"))
_transposes = functools.partial(cuda_rung, declines=_transposes_only)
_KERNEL = "transpose<float>"
_ROWS_AT_ONCE = {"rows_at_once": (2, 4, 8, 16, 32)}


LADDER = Ladder(
    name="transpose",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("rows", "columns"),
    sized=_sized,
    sample=(256, 256),
    more_samples=_more_samples,
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.copy,
            "copy<float, 4>",
            declines=takes("operation", "copy", otherwise=told("kernels.transpose.copies-only")),
            improves_on="reference",
            choices={"threads": (256, 512, 1024), "packs": (1, 2, 4, 8)},
            readability=5,
            debugging=4,
        ),
        _transposes(
            host.naive, _KERNEL, improves_on="copy", choices=_ROWS_AT_ONCE, readability=5, debugging=5
        ),
        _transposes(
            host.coalesced, _KERNEL, improves_on="naive", choices=_ROWS_AT_ONCE, readability=5, debugging=4
        ),
        _transposes(
            host.padded, _KERNEL, improves_on="coalesced", choices=_ROWS_AT_ONCE, readability=5, debugging=4
        ),
        _transposes(
            host.swizzled, _KERNEL, improves_on="padded", choices=_ROWS_AT_ONCE, readability=4, debugging=3
        ),
        _transposes(
            host.vectorized,
            "transpose<float, 4, true>",
            improves_on="swizzled",
            choices={"threads": (128, 256)},
            readability=3,
            debugging=3,
        ),
        Rung(
            name="triton",
            language="triton",
            declines=_transposes_only,
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            choices={"tile": (32, 64, 128), "warps": (4, 8)},
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"x_ptr": "*fp32", "out_ptr": "*fp32", "rows": "i32", "cols": "i32"},
                {"TILE": host.TILE_BYTES // 4},
            ),
            readability=5,
            debugging=3,
        ),
    ),
)
