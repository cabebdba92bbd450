"""The reduction ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.peers import cupy_stream, library, with_compiled
from flashpath.kernels.reduction import host
from flashpath.kernels.reduction.messages import MESSAGES
from flashpath.kernels.reduction.reference import reference, torch_reduction
from flashpath.kernels.rung import Case, Ladder, Rung, short
from flashpath.kernels.tolerance import WrongResult, check_shape, check_type
from flashpath.messages import Message, told


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
        ("min", "float32", 28),
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
    if op in ("max", "min", "argmax") or not x.dtype.is_floating_point:
        torch.testing.assert_close(output, expected, rtol=0, atol=0, equal_nan=True)
        return
    check_type(output, expected.dtype)
    check_shape(output, expected.shape)
    exact, allowed = _truth(x, op, dim), allowed_error(x, op, dim)
    # What is infinite or NaN has no error: it has to be the same.
    exact = torch.where(allowed.isfinite(), exact, expected.double())
    allowed = torch.where(allowed.isfinite(), allowed, 0.0)
    error = torch.where(output == exact, 0.0, (output.double() - exact).abs())
    is_right = (error <= allowed) | (output.isnan() & exact.isnan())
    if not bool(is_right.all()):
        raise WrongResult("kernels.error-too-large", error=error.max().item(), allowed=allowed.max().item())


def _wholes_only(case: Case) -> Message | None:
    return told("kernels.reduction.wholes-only") if len(case.parameters["shape"]) == 2 else None


def _rows_only(case: Case) -> Message | None:
    return told("kernels.reduction.rows-only") if len(case.parameters["shape"]) == 1 else None


LADDER = Ladder(
    name="reduction",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_exact,
    sized=_sized,
    sample=(2**16,),
    more_samples=_more_samples,
    chooses=host.chosen,
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.divergent,
            "reduce<Sum<float>, float>",
            declines=_wholes_only,
            improves_on="reference",
            readability=5,
            debugging=4,
        ),
        cuda_rung(
            host.bank_conflicted,
            "reduce<Sum<float>, float>",
            declines=_wholes_only,
            improves_on="divergent",
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.sequential,
            "reduce<Sum<float>, float>",
            declines=_wholes_only,
            improves_on="bank_conflicted",
            readability=5,
            debugging=4,
        ),
        cuda_rung(
            host.first_add_on_load,
            "reduce<Sum<float>, float>",
            declines=_wholes_only,
            improves_on="sequential",
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.warp_shuffle,
            "reduce<Sum<float>, float>",
            declines=_wholes_only,
            improves_on="first_add_on_load",
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.vectorized,
            "reduce<Sum<float>, float>",
            declines=_wholes_only,
            improves_on="warp_shuffle",
            readability=3,
            debugging=3,
        ),
        cuda_rung(
            host.single_pass,
            "reduce<Sum<float>, float>",
            choices={"blocks_per_sm": (1, 2, 4, 8, 16)},
            improves_on="vectorized",
            readability=3,
            debugging=2,
        ),
        cuda_rung(
            host.by_row,
            "reduce<Sum<float>, 32, float>",
            declines=_rows_only,
            improves_on="single_pass",
            readability=4,
            debugging=4,
        ),
        Rung(
            name="triton",
            language="triton",
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
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.cub_block,
            "reduce<Sum<float>, float>",
            declines=_wholes_only,
            improves_on="warp_shuffle",
            readability=4,
            debugging=3,
        ),
    ),
)
