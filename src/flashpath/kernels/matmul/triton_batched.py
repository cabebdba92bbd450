"""Matrix multiplication in Triton of many pairs at once, in one launch.

maths    out[z, i, j] = Σ_p a[z, i, p] b[z, p, j], summed in float32; of tf32, inputs are rounded first
layout   a: (batch, m, k), b: (batch, k, n), with any strides, 0 among them; out: (batch, m, n), row-major
cost     2 batch m n k FLOPs; at least sizeof(T) batch (m k + k n + m n) bytes, of what is broadcast once
improves one_by_one: one launch for all products, so that tiles of several fill a GPU that one does not
idea     tiles of all products are one sequence: a program finds its product by dividing. Strides are
         arguments, so that a transposed or broadcast operand is read as it lies.
"""

import triton
import triton.language as tl

from flashpath.kernels.matmul.triton_tiles import rounded, tile_at


@triton.jit
def matmul_batched(
    a_ptr,
    b_ptr,
    out_ptr,
    m,
    n,
    k,
    a_strides,  # of batch, row and column
    b_strides,
    PRECISION: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    tiles = tl.cdiv(m, BLOCK_M) * tl.cdiv(n, BLOCK_N)
    product = (tl.program_id(0) // tiles).to(tl.int64)
    tile_m, tile_n = tile_at(tl.program_id(0) % tiles, m, n, BLOCK_M, BLOCK_N, GROUP)
    rows = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)[:, None]  # (BLOCK_M, 1)
    columns = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)[None, :]  # (1, BLOCK_N)
    along_a, along_b = tl.arange(0, BLOCK_K)[None, :], tl.arange(0, BLOCK_K)[:, None]
    a_at = a_ptr + product * a_strides[0] + rows.to(tl.int64) * a_strides[1] + along_a * a_strides[2]
    b_at = b_ptr + product * b_strides[0] + along_b * b_strides[1] + columns.to(tl.int64) * b_strides[2]
    a_step, b_step = BLOCK_K * a_strides[2], BLOCK_K * b_strides[1]
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k0 in range(0, k, BLOCK_K):
        a = tl.load(a_at, mask=(rows < m) & (along_a < k - k0), other=0.0)
        b = tl.load(b_at, mask=(along_b < k - k0) & (columns < n), other=0.0)
        sums = tl.dot(rounded(a, PRECISION), rounded(b, PRECISION), sums, input_precision=PRECISION)
        a_at += a_step
        b_at += b_step
    out_at = out_ptr + (product * m + rows) * n + columns
    tl.store(out_at, sums.to(out_ptr.dtype.element_ty), mask=(rows < m) & (columns < n))
