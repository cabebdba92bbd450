"""A layer in one launch: y = r + silu(x wᵀ + bias), for any sizes, by programs that stay.

x: (m, k), w: (n, k), bias: (n), r and y: (m, n), float16; everything in between in float32. silu(t) = t / (1 + e^-t).
Tiles of y are numbered row by row; a program takes every so-many-th.
"""

import triton
import triton.language as tl


@triton.jit
def layer(
    x_ptr,
    w_ptr,
    bias_ptr,
    r_ptr,
    y_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    tiles_n = tl.cdiv(n, BLOCK_N)
    tiles = tl.cdiv(m, BLOCK_M) * tiles_n
    # TODO: every so-many-th tile, from this program's number on
    # TODO: the product of the tile, with masks in all three directions
    # TODO: bias, silu and r on the sums, in float32; one store
