"""c = a b in tiles, in grouped order: flashpath run product.py"""

import torch
import triton
import triton.language as tl

from flashpath.kernels.matmul.triton_tiles import tile_at


@triton.jit
def product(
    a_ptr,
    b_ptr,
    c_ptr,
    m,
    n,
    k,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    number = tl.program_id(0)
    tile_m, tile_n = tile_at(number, m, n, BLOCK_M, BLOCK_N, GROUP)
    row = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M))[:, None]
    column = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N))[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k0 in range(0, k, BLOCK_K):
        along = k0 + tl.arange(0, BLOCK_K)
        across, down = along[None, :], along[:, None]
        a_mask = (row < m) & (across < k)
        b_mask = (down < k) & (column < n)
        a = tl.load(a_ptr + row * k + across, mask=a_mask, other=0.0)
        b = tl.load(b_ptr + down * n + column, mask=b_mask, other=0.0)
        total = tl.dot(a, b, total)
    c_mask = (row < m) & (column < n)
    tl.store(c_ptr + row * n + column, total.to(tl.float16), mask=c_mask)


if __name__ == "__main__":
    m, n, k = 100, 70, 50
    a, b = torch.randn(m, k).half(), torch.randn(k, n).half()
    c = torch.empty(m, n, dtype=torch.float16)
    programs = triton.cdiv(m, 32) * triton.cdiv(n, 32)
    product[(programs,)](a, b, c, m, n, k, BLOCK_M=32, BLOCK_N=32, BLOCK_K=32, GROUP=8)
    print("largest difference:", (c - (a.float() @ b.float())).abs().max().item())
