"""Matrix multiplication in Triton with an epilogue: what comes after the product, before it is stored.

maths    out = where(mask, activation(scale (a b) + bias) + residual, 0), in float32, rounded once
layout   a: (m, k), b: (k, n), out, residual, mask: (m, n), row-major; bias: (n)
cost     2 m n k FLOPs and some 2 to 30 an element; at least sizeof(T) (m k + k n + 2 m n + n) + m n bytes
improves unfused: the product is not written to memory and read again for each step after it
idea     a function of a tile in registers, called by triton_persistent between the last product and the
         store: the arithmetic is written as on whole matrices. Steps that are not asked for are not compiled.
"""

import triton
import triton.language as tl


@triton.jit
def normal_tail(t):
    """Φ(-t) for t >= 0 as 2^-S(t), by the polynomial of common/activations.cuh: cheaper than erf."""
    s = 7.71311489e-07
    s = s * t - 1.36697069e-05
    s = s * t + 6.1580961e-05
    s = s * t + 0.000435762696
    s = s * t - 0.00743801244
    s = s * t + 0.0527343186
    s = s * t + 0.459140321
    s = s * t + 1.15111137
    s = s * t + 1.0
    return tl.exp2(-s)


@triton.jit
def activated(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "relu":
        x = tl.where((x > 0) | (x != x), x, 0.0)  # NaN stays
    elif ACTIVATION == "gelu":
        tail = normal_tail(tl.abs(x))
        x = x * tl.where(x < 0, tail, 1.0 - tail)
    elif ACTIVATION == "silu":
        x = x / (1.0 + tl.exp(-x))
    else:
        tl.static_assert(ACTIVATION == "none")
    return x


@triton.jit
def finish(
    sums,
    row,
    column,
    scale,
    bias_ptr,
    mask_ptr,
    residual_ptr,
    m,
    n,
    FUSED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    """What comes after the product, for a part of the result from (row, column) on."""
    if FUSED:
        columns = column + tl.arange(0, BLOCK_N)
        sums = sums * scale
        if bias_ptr is not None:
            sums += tl.load(bias_ptr + columns, mask=columns < n, other=0.0).to(tl.float32)[None, :]
        sums = activated(sums, ACTIVATION)
        rows = row + tl.arange(0, BLOCK_M)
        at = rows.to(tl.int64)[:, None] * n + columns[None, :]
        inside = (rows < m)[:, None] & (columns < n)[None, :]
        if residual_ptr is not None:
            sums += tl.load(residual_ptr + at, mask=inside, other=0.0).to(tl.float32)
        if mask_ptr is not None:
            sums = tl.where(tl.load(mask_ptr + at, mask=inside, other=0) != 0, sums, 0.0)
    return sums
