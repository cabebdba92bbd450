"""Matrix multiplication in Triton, rung 4: programs that stay.

maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first.
         With an epilogue (triton_epilogue.py): out = where(mask, activation(scale Σ + bias) + residual, 0)
layout   a: (m, k), b: (k, n), row-major or transposed, out: (m, n), row-major, every row at a multiple of 16
         bytes; bias: (n); residual, mask: (m, n), row-major
cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
improves triton_descriptors: the loads of a program's next tile are under way while it stores the last one
idea     one program per SM takes every so-many-th tile. With the loop over tiles and the loop along k
         flattened into one, the pipeline of loads does not run dry between tiles. The result is stored in
         SPLIT parts, one after the other through the same shared memory: what that saves is another stage for
         the loads. A transposed matrix is read as it lies, and turned between shared memory and tensor cores.
"""

import triton
import triton.language as tl

from flashpath.kernels.matmul.triton_epilogue import finish
from flashpath.kernels.matmul.triton_tiles import rounded, tile_at


@triton.jit(do_not_specialize=["m", "n", "k"])
def matmul_persistent(
    a_tiles,
    b_tiles,
    out_tiles,
    m,
    n,
    k,
    scale,
    bias_ptr,
    mask_ptr,
    residual_ptr,
    FUSED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    TURNED_A: tl.constexpr,  # a is transposed: its rows are those of k
    TURNED_B: tl.constexpr,  # b is transposed: its rows are those of n, as weights are stored
    PRECISION: tl.constexpr,
    PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
    SPLIT: tl.constexpr,
):
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=True):
        tile_m, tile_n = tile_at(tile, m, n, BLOCK_M, BLOCK_N, GROUP)
        row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
        sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for step in range(tl.cdiv(k, BLOCK_K)):
            at = step * BLOCK_K
            a = a_tiles.load([at, row]).T if TURNED_A else a_tiles.load([row, at])  # (BLOCK_M, BLOCK_K)
            b = b_tiles.load([column, at]).T if TURNED_B else b_tiles.load([at, column])  # (BLOCK_K, BLOCK_N)
            sums = tl.dot(rounded(a, PRECISION), rounded(b, PRECISION), sums, input_precision=PRECISION)
        if SPLIT == 1:
            sums = finish(
                sums,
                row,
                column,
                scale,
                bias_ptr,
                mask_ptr,
                residual_ptr,
                m,
                n,
                FUSED,
                ACTIVATION,
                BLOCK_M,
                BLOCK_N,
            )
            out_tiles.store([row, column], sums.to(out_tiles.dtype))
        else:
            tl.static_assert(SPLIT == 2)
            half: tl.constexpr = BLOCK_N // 2
            left, right = tl.split(tl.permute(tl.reshape(sums, (BLOCK_M, 2, half)), (0, 2, 1)))
            left = finish(
                left,
                row,
                column,
                scale,
                bias_ptr,
                mask_ptr,
                residual_ptr,
                m,
                n,
                FUSED,
                ACTIVATION,
                BLOCK_M,
                half,
            )
            out_tiles.store([row, column], left.to(out_tiles.dtype))
            right = finish(
                right,
                row,
                column + half,
                scale,
                bias_ptr,
                mask_ptr,
                residual_ptr,
                m,
                n,
                FUSED,
                ACTIVATION,
                BLOCK_M,
                half,
            )
            out_tiles.store([row, column + half], right.to(out_tiles.dtype))
