"""Matrix multiplication in Triton, rung 1: tensors of pointers.

maths    out[i, j] = Σ_p a[i, p] b[p, j], summed in float32; float32 inputs are rounded to tf32 first
layout   a: (m, k), b: (k, n), out: (m, n), row-major
cost     2 m n k FLOPs; at least sizeof(T) (m k + k n + m n) bytes
improves mma_pipelined: stages, swizzles and fragments are the compiler's business, and on Hopper it
         multiplies by wgmma, which takes tiles from shared memory itself, and alone reaches the tensor cores'
         full speed
idea     a program owns a tile of the result. Its loads are spelt out: an address and a bound for each element
         of a tile. That takes any matrix at any address, and costs registers and instructions for the
         addresses.
"""

import triton
import triton.language as tl

from flashpath.kernels.matmul.triton_tiles import rounded, tile_at


@triton.jit(do_not_specialize=["m", "n", "k"])
def matmul_pointers(
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
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # (BLOCK_M, 1)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # (1, BLOCK_N)
    along_a, along_b = tl.arange(0, BLOCK_K)[None, :], tl.arange(0, BLOCK_K)[:, None]
    a_at = a_ptr + rows.to(tl.int64) * k + along_a  # (BLOCK_M, BLOCK_K)
    b_at = b_ptr + along_b.to(tl.int64) * n + columns  # (BLOCK_K, BLOCK_N)
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k0 in range(0, k, BLOCK_K):
        a = tl.load(a_at, mask=(rows < m) & (along_a < k - k0), other=0.0)
        b = tl.load(b_at, mask=(along_b < k - k0) & (columns < n), other=0.0)
        sums = tl.dot(rounded(a, PRECISION), rounded(b, PRECISION), sums, input_precision=PRECISION)
        a_at += BLOCK_K
        b_at += BLOCK_K * n.to(tl.int64)
    out_at = out_ptr + rows.to(tl.int64) * n + columns
    tl.store(out_at, sums.to(out_ptr.dtype.element_ty), mask=(rows < m) & (columns < n))
