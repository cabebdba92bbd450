"""Matrix multiplication in Triton, rung 2: block pointers.

maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first
layout   a: (m, k), b: (k, n), out: (m, n), row-major
cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
improves triton_pointers: what is loaded is said once, by shape, strides and place; no address is written out
idea     `tl.make_block_ptr` describes a matrix and a block in it; `tl.advance` moves the block, and
         `boundary_check` names the dimensions in which it may leave the matrix. The compiler makes the same
         addresses and bounds of it as it was given before: the gain is the reader's. Triton 3.7 calls this
         interface deprecated, in favour of the next rung's.
"""

import triton
import triton.language as tl

from flashpath.kernels.matmul.triton_tiles import rounded, tile_at


@triton.jit(do_not_specialize=["m", "n", "k"])
def matmul_block_pointers(
    a_ptr,
    b_ptr,
    out_ptr,
    m,
    n,
    k,
    ALIGNED: tl.constexpr,
    PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    if ALIGNED:  # multiples of 16, said so that the compiler sees it: then it loads 16 bytes at once
        n, k = n // 16 * 16, k // 16 * 16
    tile_m, tile_n = tile_at(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP)
    row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
    a_block = tl.make_block_ptr(a_ptr, (m, k), (k, 1), (row, 0), (BLOCK_M, BLOCK_K), (1, 0))
    b_block = tl.make_block_ptr(b_ptr, (k, n), (n, 1), (0, column), (BLOCK_K, BLOCK_N), (1, 0))
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, k, BLOCK_K):
        a = tl.load(a_block, boundary_check=(0, 1), padding_option="zero")
        b = tl.load(b_block, boundary_check=(0, 1), padding_option="zero")
        sums = tl.dot(rounded(a, PRECISION), rounded(b, PRECISION), sums, input_precision=PRECISION)
        a_block = tl.advance(a_block, (0, BLOCK_K))
        b_block = tl.advance(b_block, (BLOCK_K, 0))
    out_block = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (row, column), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(out_block, sums.to(out_ptr.dtype.element_ty), boundary_check=(0, 1))
