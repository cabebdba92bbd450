"""The launches of the Triton rungs of layer_norm and rms_norm."""

from __future__ import annotations

from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.building import sm_count, triton_device
from flashpath.kernels.common.norm.rows import Gradients

# The widest row that a program holds, and the widest without a residual. Longer ones are read again
# to be written, two blocks of columns at a time: whole ones of bfloat16 need 40 registers in 16 warps, so an
# SM has three of them.
MOST_COLUMNS = 32768
MOST_COLUMNS_ALONE = 8192
LONG_BLOCK = 8192
LONG_WARPS = 16
PROGRAMS_PER_SM = 4  # of the backward pass
COLUMNS_OF_PROGRAM = 64  # that adds up partial sums
PARTIALS_AT_ONCE = 64


def block_of(n: int) -> int:
    return min(MOST_COLUMNS, max(16, 1 << (n - 1).bit_length()))


def warps_of(block: int) -> int:
    return 4 if block <= 2048 else 8 if block <= 8192 else 16


def forward(
    module: Any,
    centered: bool,
    x: Any,
    weight: Any,
    bias: Any,
    eps: float,
    residual: Any,
    out: Any,
    total: Any,
    mean: Any,
    rstd: Any,
    offset: float = 0.0,
) -> None:
    rows, n = x.shape
    if not rows or not n:
        return
    is_whole = n <= (MOST_COLUMNS_ALONE if residual is None else MOST_COLUMNS)
    block = block_of(n) if is_whole else LONG_BLOCK
    warps = warps_of(block) if is_whole else LONG_WARPS
    with triton_device(x):
        module.forward_kernel[(rows,)](
            x, residual, weight, bias, out, total, mean, rstd, n, float(n), eps, CENTERED=centered,
            IS_WHOLE=is_whole, IS_FULL=n % (2 * block) == 0, OFFSET=offset, GROUPS=32 * warps, BLOCK=block,
            num_warps=warps,
        )  # fmt: skip


def backward(
    module: Any,
    centered: bool,
    dy: Any,
    x: Any,
    weight: Any,
    mean: Any,
    rstd: Any,
    to: Gradients,
    added: Any = None,
    offset: float = 0.0,
) -> None:
    import torch

    rows, n = x.shape
    if x.dtype == torch.float64:
        raise FlashpathError("kernels.norm-triton-float64")
    if n > MOST_COLUMNS:
        raise FlashpathError("kernels.norm-triton-long", n=n, most_columns=MOST_COLUMNS)
    if not n:
        return
    block = block_of(n)
    programs = max(1, min(rows, sm_count(x) * PROGRAMS_PER_SM * 4 // warps_of(block)))
    partials = torch.empty((2 if centered else 1, programs, n), dtype=torch.float32, device=x.device)
    of_bias = partials[1] if centered else None
    with triton_device(x):
        module.backward_kernel[(programs,)](
            dy, x, weight, mean, rstd, added, to.dx, partials[0], of_bias, rows, n, float(n),
            CENTERED=centered, OFFSET=offset, BLOCK=block, num_warps=warps_of(block),
        )  # fmt: skip
        for out, part in ((to.dweight, partials[0]), (to.dbias, of_bias)):
            if out is not None:
                module.add_partials_kernel[(-(-n // COLUMNS_OF_PROGRAM),)](
                    part, out, programs, n, AT_ONCE=PARTIALS_AT_ONCE, COLUMNS=COLUMNS_OF_PROGRAM
                )
