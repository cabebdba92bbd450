"""The Triton kernels that benchmarks/vgpu.py times: on the virtual GPU, and in Triton's own interpreter."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def matmul(a, b, c, n, k, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    """(m, k) times (k, n), row-major, every size a multiple of its block."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    tile_a = a + rows[:, None] * k + inner[None, :]  # (BLOCK_M, BLOCK_K)
    tile_b = b + inner[:, None] * n + columns[None, :]  # (BLOCK_K, BLOCK_N)
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, k, BLOCK_K):
        sums = tl.dot(tl.load(tile_a), tl.load(tile_b), sums)
        tile_a += BLOCK_K
        tile_b += BLOCK_K * n
    tl.store(c + rows[:, None] * n + columns[None, :], sums)


@triton.jit
def flash_attention(q, k, v, o, n, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    """softmax(scale · Q Kᵀ) V for (heads, n, D), with an online softmax in powers of two."""
    head = tl.program_id(1) * n * D
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    keys = tl.arange(0, BLOCK_N)
    dims = tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + dims[None, :])  # (BLOCK_M, D)
    m = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    l = tl.zeros((BLOCK_M,), tl.float32)  # noqa: E741 - the paper's letter
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    for first in range(0, n, BLOCK_N):
        at = head + (first + keys)[:, None] * D + dims[None, :]
        key = tl.load(k + at)  # (BLOCK_N, D)
        value = tl.load(v + at)
        scores = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)
        larger = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(m - larger)
        l = l * shrink + tl.sum(p, 1)  # noqa: E741
        acc = tl.dot(p.to(value.dtype), value, acc * shrink[:, None])
        m = larger
    out = acc / l[:, None]
    tl.store(o + head + rows[:, None] * D + dims[None, :], out.to(o.dtype.element_ty))
