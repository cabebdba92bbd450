"""Layer norm, rungs 7 and 8: Triton, forward and backward; with CENTERED false, rms_norm's.

maths    out = (x - mean) rstd * weight + bias, rstd = 1 / sqrt(Σ (x - mean)² / n + eps), of each row;
         backward: x̂ = (x - mean) rstd, g = dy * weight, dx = rstd (g - Σ g / n - x̂ Σ (g x̂) / n) of each row,
         dweight = Σ dy x̂ and dbias = Σ dy of each column
layout   x, out, dy, dx, residual, sum: (rows, n), contiguous; weight, bias: (n) or None; mean, rstd: (rows)
         or None; partials: (programs, n) of dweight, and of dbias
cost     8 FLOPs an element, backward 15; at least 2 rows n sizeof(T) bytes, with a residual 4, backward 3
improves vectorized and backward_fused: a row is an array, its sums are `tl.sum`; what was three kernels with
         lanes, packs and barriers is one of thirty lines
idea     one program per row, which is held whole: a power of two of columns, those beyond the row masked. A
         row of more than 32768 is taken in blocks, read for the mean, for the variance and to be written.
         Backward, few programs stay for many rows each and sum dweight and dbias on the way; a second kernel
         adds up what they leave.
"""

import triton
import triton.language as tl


@triton.jit
def load_row(x_ptr, residual_ptr, sum_ptr, start, columns, n, ADDS: tl.constexpr):
    """Part of a row in float32, zeros beyond its end; with a residual it is the rounded sum, written too."""
    x = tl.load(x_ptr + start + columns, mask=columns < n, other=0.0)
    if ADDS:
        residual = tl.load(residual_ptr + start + columns, mask=columns < n, other=0.0)
        x = (x.to(tl.float32) + residual.to(tl.float32)).to(x.dtype)
        tl.store(sum_ptr + start + columns, x, mask=columns < n)
    return x.to(tl.float32)


@triton.jit
def store_row(x, weight_ptr, bias_ptr, out_ptr, start, columns, n):
    """x * weight + bias."""
    if weight_ptr is not None:
        x *= tl.load(weight_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)
    tl.store(out_ptr + start + columns, x.to(out_ptr.dtype.element_ty), mask=columns < n)


@triton.jit
def forward_kernel(
    x_ptr,
    residual_ptr,  # or None
    weight_ptr,  # or None
    bias_ptr,  # or None
    out_ptr,
    sum_ptr,  # of x and residual, or None
    mean_ptr,  # or None
    rstd_ptr,  # or None
    n,
    count,  # n as a float: its quotients are rounded as a division's
    eps,
    CENTERED: tl.constexpr,
    IS_WHOLE: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    start = row * n
    columns = tl.arange(0, BLOCK)
    adds: tl.constexpr = residual_ptr is not None
    mean = 0.0
    if IS_WHOLE:
        x = load_row(x_ptr, residual_ptr, sum_ptr, start, columns, n, adds)  # (BLOCK)
        if CENTERED:
            mean = tl.div_rn(tl.sum(x), count)
            x = tl.where(columns < n, x - mean, 0.0)
        rstd = 1.0 / tl.sqrt_rn(tl.sum(x * x) / count + eps)
        store_row(x * rstd, weight_ptr, bias_ptr, out_ptr, start, columns, n)
    else:
        # The first walk adds the residual; those after it read the sum, or x where there is none.
        total = tl.zeros((BLOCK,), tl.float32)
        squares = tl.zeros((BLOCK,), tl.float32)
        for first in range(0, n, BLOCK):
            x = load_row(x_ptr, residual_ptr, sum_ptr, start, first + columns, n, adds)
            total += x
            squares += x * x
        again_ptr = sum_ptr if adds else x_ptr
        if adds:
            tl.debug_barrier()  # another thread may have written what one reads back
        if CENTERED:
            mean = tl.div_rn(tl.sum(total), count)
            squares = tl.zeros((BLOCK,), tl.float32)
            for first in range(0, n, BLOCK):
                x = load_row(again_ptr, None, None, start, first + columns, n, False)
                x = tl.where(first + columns < n, x - mean, 0.0)
                squares += x * x
        rstd = 1.0 / tl.sqrt_rn(tl.sum(squares) / count + eps)
        for first in range(0, n, BLOCK):
            x = load_row(again_ptr, None, None, start, first + columns, n, False)
            store_row((x - mean) * rstd, weight_ptr, bias_ptr, out_ptr, start, first + columns, n)
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
        if CENTERED:
            tl.store(mean_ptr + row, mean)


@triton.jit
def backward_kernel(
    dy_ptr,
    x_ptr,
    weight_ptr,  # or None
    mean_ptr,  # None unless CENTERED
    rstd_ptr,
    dx_ptr,
    of_weight_ptr,  # (programs, n)
    of_bias_ptr,  # (programs, n), None unless CENTERED
    rows,
    n,
    count,  # n as a float
    CENTERED: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    weight = tl.full((BLOCK,), 1.0, tl.float32)
    if weight_ptr is not None:
        weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
    of_weight = tl.zeros((BLOCK,), tl.float32)
    of_bias = tl.zeros((BLOCK,), tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        start = row * n
        dy = tl.load(dy_ptr + start + columns, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + start + columns, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        if CENTERED:
            x = tl.where(inside, x - tl.load(mean_ptr + row), 0.0)
        normal = x * rstd
        g = dy * weight
        of_weight += dy * normal
        dx = g - normal * (tl.sum(g * normal) / count)
        if CENTERED:
            of_bias += dy
            dx -= tl.div_rn(tl.sum(g), count)
        tl.store(dx_ptr + start + columns, (dx * rstd).to(dx_ptr.dtype.element_ty), mask=inside)
    tl.store(of_weight_ptr + program * n + columns, of_weight, mask=inside)
    if CENTERED:
        tl.store(of_bias_ptr + program * n + columns, of_bias, mask=inside)


@triton.jit
def add_partials_kernel(partials_ptr, out_ptr, count, n, AT_ONCE: tl.constexpr, COLUMNS: tl.constexpr):
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((AT_ONCE, COLUMNS), tl.float32)
    for first in range(0, count, AT_ONCE):
        these = first + tl.arange(0, AT_ONCE)
        inside = (these < count)[:, None] & (columns < n)[None, :]
        places = these.to(tl.int64)[:, None] * n + columns[None, :]
        total += tl.load(partials_ptr + places, mask=inside, other=0.0)
    tl.store(out_ptr + columns, tl.sum(total, 0).to(out_ptr.dtype.element_ty), mask=columns < n)
