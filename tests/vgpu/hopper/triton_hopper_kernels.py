"""Kernels in Triton that use descriptors, and tensor cores of a warpgroup where they are compiled for sm_90."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def product_of_pointers(a, b, c, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        x = tl.load(a + rows[:, None] * k + (at + depth)[None, :])
        y = tl.load(b + (at + depth)[:, None] * n + columns[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + rows[:, None] * n + columns[None, :], total.to(c.dtype.element_ty))


@triton.jit
def product_of_descriptors(a, b, c, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        total = tl.dot(a.load([row, at]), b.load([at, column]), total)
    c.store([row, column], total.to(tl.float16))


@triton.jit
def product_of_made_descriptors(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    from_a = tl.make_tensor_descriptor(a, [m, k], [k, 1], [BM, BK])
    from_b = tl.make_tensor_descriptor(b, [k, n], [n, 1], [BK, BN])
    to_c = tl.make_tensor_descriptor(c, [m, n], [n, 1], [BM, BN])
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for at in range(0, k, BK):
        total = tl.dot(from_a.load([row, at]), from_b.load([at, column]), total)
    to_c.store([row, column], total.to(tl.float16))


@triton.jit
def attention(q, k, v, o, scale, length, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    head = tl.program_id(1) * length * D
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns, inner = tl.arange(0, BN), tl.arange(0, D)
    query = tl.load(q + head + rows[:, None] * D + inner[None, :])
    largest = tl.full((BM,), float("-inf"), tl.float32)
    weight = tl.zeros((BM,), tl.float32)
    total = tl.zeros((BM, D), tl.float32)
    for at in range(0, length, BN):
        key = tl.load(k + head + (at + columns)[None, :] * D + inner[:, None])
        scores = tl.dot(query, key) * scale
        now = tl.maximum(largest, tl.max(scores, 1))
        shares = tl.exp2(scores - now[:, None])
        fade = tl.exp2(largest - now)
        weight = weight * fade + tl.sum(shares, 1)
        value = tl.load(v + head + (at + columns)[:, None] * D + inner[None, :])
        total = tl.dot(shares.to(tl.float16), value, total * fade[:, None])
        largest = now
    tl.store(o + head + rows[:, None] * D + inner[None, :], (total / weight[:, None]).to(tl.float16))
