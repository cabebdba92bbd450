"""Matrix multiplication in Triton, rung 3: tensor descriptors.

maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first
layout   a: (m, k), b: (k, n), out: (m, n), row-major, every row at a multiple of 16 bytes
cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
improves triton_block_pointers: on Hopper no thread computes an address or a bound; one asks for a whole tile
idea     the host writes down a matrix's address, shape, strides and tile once. From sm_90 on that is the
         tensor map of the Tensor Memory Accelerator, which fetches tiles into shared memory, swizzled, with
         zeros past the edges; before, the compiler turns it back into pointers. The registers that addresses
         took are free for larger tiles.
"""

import triton
import triton.language as tl

from flashpath.kernels.matmul.triton_tiles import rounded, tile_at


@triton.jit(do_not_specialize=["m", "n", "k"])
def matmul_descriptors(
    a_tiles,
    b_tiles,
    out_tiles,
    m,
    n,
    k,
    PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    tile_m, tile_n = tile_at(tl.program_id(0), m, n, BLOCK_M, BLOCK_N, GROUP)
    row, column = tile_m * BLOCK_M, tile_n * BLOCK_N
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k0 in range(0, k, BLOCK_K):
        a = a_tiles.load([row, k0])  # (BLOCK_M, BLOCK_K)
        b = b_tiles.load([k0, column])  # (BLOCK_K, BLOCK_N)
        sums = tl.dot(rounded(a, PRECISION), rounded(b, PRECISION), sums, input_precision=PRECISION)
    out_tiles.store([row, column], sums.to(out_tiles.dtype))
