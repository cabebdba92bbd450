"""The spmv ladder: its rungs, the matrices it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.rung import Case, Ladder, Rung, always, short
from flashpath.kernels.spmv import host, matrices
from flashpath.kernels.spmv.messages import MESSAGES
from flashpath.kernels.spmv.reference import reference, truth
from flashpath.kernels.tolerance import WrongResult, check_shape, check_type
from flashpath.messages import told


def _case(name: str, rows: int, nnz: int, make: Callable[[str], tuple[Any, Any]]) -> Case:
    """A square matrix of float32; `make` gives its row_ptr and col."""
    import torch

    def inputs(device: str) -> tuple[Any, ...]:
        row_ptr, col = make(device)
        val, x = (torch.randn(n, device=device) for n in (col.numel(), rows))
        return row_ptr, col, val, x

    return Case(
        name=f"{name} float32",
        inputs=inputs,
        bytes=4 * (2 * nnz + (rows + 1) + rows + rows),  # col and val, row_ptr, x, y
        flops=2 * nnz,
        parameters={"matrix": name, "rows": rows, "nnz": nnz, "dtype": "float32"},
    )


def _uniform(rows: int, length: int) -> Case:
    make = functools.partial(matrices.uniform, rows, length)
    return _case(f"uniform {short(rows)} × {length}", rows, rows * length, make)


def _power_law(rows: int) -> Case:
    make = functools.partial(matrices.power_law, rows)
    return _case(f"power law {short(rows)}", rows, int(matrices.power_law_lengths(rows).sum()), make)


def _stencil(side: int) -> Case:
    make = functools.partial(matrices.stencil, side)
    return _case(f"5-point stencil {side}²", side**2, 5 * side**2 - 4 * side, make)


def _cases() -> Sequence[Case]:
    return [_uniform(2**16, 32), _uniform(2**20, 32), _power_law(2**20), _stencil(2048)]


def _truth(inputs: tuple[Any, ...]) -> Any:
    return truth(*inputs)


def _sized(size: tuple[int, ...]) -> Case:
    return _uniform(*size)


def torch_csr(row_ptr: Any, col: Any, val: Any, x: Any) -> Any:
    """PyTorch's own, which is cuSPARSE on a GPU."""
    import torch

    rows, library = row_ptr.numel() - 1, cast(Any, torch)
    matrix = library.sparse_csr_tensor(row_ptr, col, val, (rows, x.numel()), check_invariants=False)
    return matrix @ x


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    return {"torch (cuSPARSE)" if device == "cuda" else "torch": torch_csr}


def allowed_error(row_ptr: Any, col: Any, val: Any, x: Any) -> Any:
    """How far each row may be from the truth.

    One rounding to the output's type, and what n roundings of a float32 sum come to: √n of them where their
    signs are random, each of at most half a unit of Σ|val x|, whatever the order; twice that, and four for
    short rows. A float64 sum is held to the same in its own unit.
    """
    import torch

    n = row_ptr.long().diff().double()
    size = truth(row_ptr, col, val.abs(), x.abs())
    unit = torch.finfo(torch.float64 if val.dtype == torch.float64 else torch.float32).eps / 2
    of_sum = unit * (4 + 2 * n.sqrt()) * size
    return of_sum + torch.finfo(val.dtype).eps / 2 * truth(row_ptr, col, val, x).abs()


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    import torch

    row_ptr, _, val, _ = inputs
    check_shape(output, (row_ptr.numel() - 1,))
    check_type(output, val.dtype)
    exact, allowed = truth(*inputs), allowed_error(*inputs)
    # What overflows the type, is infinite or is NaN has no error: it has to be the same.
    is_finite = allowed.isfinite() & (exact.abs() <= torch.finfo(val.dtype).max)
    exact = torch.where(is_finite, exact, exact.to(val.dtype).double())
    allowed = torch.where(is_finite, allowed, 0.0)
    error = torch.where(output == exact, 0.0, (output.double() - exact).abs())
    is_right = (error <= allowed) | (output.isnan() & exact.isnan())
    if not bool(is_right.all()):
        first = int((~is_right).nonzero()[0])
        raise WrongResult("kernels.spmv.row-off", row=first, error=error[~is_right][0].item())


LADDER = Ladder(
    name="spmv",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("rows", "length"),
    sized=_sized,
    sample=(2**11, 32),
    chooses=always("merge_based", told("kernels.spmv-merge")),
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.thread_per_row, "spmv<float, int>", improves_on="reference", readability=5, debugging=5
        ),
        cuda_rung(
            host.warp_per_row,
            "spmv<8, 4, float, int>",
            improves_on="thread_per_row",
            choices={"lanes": (1, 2, 4, 8, 16, 32)},
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.merge_based,
            f"spmv<{host.ITEMS}, 4, float, float, int>",
            improves_on="warp_per_row",
            choices={"items": (5, 7, 9, 11, 13)},
            readability=2,
            debugging=2,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.TRITON,
            function=host.triton,
            improves_on="warp_per_row",
            compile_for=triton_compiles_for(
                host.triton_kernel,
                {"row_ptr": "*i32", "col_ptr": "*i32", "val_ptr": "*fp32", "x_ptr": "*fp32", "y_ptr": "*fp32"}
                | {"rows": "i32"},
                {"ROWS": host.TRITON_TILE // 16, "WIDTH": 16},
            ),
            readability=5,
            debugging=3,
        ),
    ),
)
