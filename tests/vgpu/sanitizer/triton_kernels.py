# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Triton kernels: correct ones, and some with a bug, its line marked as in planted/."""

import triton
import triton.language as tl


@triton.jit
def vector_add(x, y, z, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(z + at, tl.load(x + at, mask=inside) + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=inside, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(y + row + at, powers / tl.sum(powers, 0), mask=inside)


@triton.jit
def layer_norm(x, weight, bias, y, columns, epsilon, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    inside = at < columns
    row = tl.program_id(0) * columns
    values = tl.load(x + row + at, mask=inside, other=0.0)
    mean = tl.sum(values, 0) / columns
    centred = tl.where(inside, values - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, 0) / columns + epsilon)
    scaled = centred * scale * tl.load(weight + at, mask=inside) + tl.load(bias + at, mask=inside)
    tl.store(y + row + at, scaled, mask=inside)


@triton.jit
def matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    sums = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for first in range(0, K, BLOCK_K):
        k = first + inner
        left = tl.load(
            a + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0
        )
        right = tl.load(
            b + k[:, None] * N + columns[None, :], mask=(k[:, None] < K) & (columns[None, :] < N), other=0.0
        )
        sums = tl.dot(left, right, sums)
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c + rows[:, None] * N + columns[None, :], sums, mask=inside)


@triton.jit
def flash_attention(q, k, v, o, n, scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    dims = tl.arange(0, D)
    query = tl.load(q + rows[:, None] * D + dims[None, :])
    m = tl.full((BLOCK_M,), -float("inf"), tl.float32)
    l = tl.zeros((BLOCK_M,), tl.float32)  # noqa: E741 - the paper's letter
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    for first in range(0, n, BLOCK_N):
        keys = first + tl.arange(0, BLOCK_N)
        key = tl.load(k + keys[:, None] * D + dims[None, :])
        value = tl.load(v + keys[:, None] * D + dims[None, :])
        scores = tl.dot(query, tl.trans(key)) * (scale * 1.4426950408889634)
        larger = tl.maximum(m, tl.max(scores, 1))
        p = tl.exp2(scores - larger[:, None])
        shrink = tl.exp2(m - larger)
        l = l * shrink + tl.sum(p, 1)  # noqa: E741
        acc = tl.dot(p.to(value.dtype), value, acc * shrink[:, None])
        m = larger
    tl.store(o + rows[:, None] * D + dims[None, :], acc / l[:, None])


@triton.jit
def histogram(keys, counts, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.atomic_add(counts + tl.load(keys + at, mask=inside, other=0), 1, mask=inside)


@triton.jit
def prefix_sums(x, y, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(y + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def split_k(a, b, c, locks, K, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    """Programs share an output tile and add their parts of K to it, one after the other, under a lock."""
    part = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(part * K // SPLITS, (part + 1) * K // SPLITS, BLOCK):
        left = tl.load(a + at[:, None] * K + first + at[None, :])
        right = tl.load(b + (first + at[:, None]) * BLOCK + at[None, :])
        sums = tl.dot(left, right, sums)
    place = c + at[:, None] * BLOCK + at[None, :]
    while tl.atomic_cas(locks, 0, 1) == 1:
        pass
    tl.store(place, tl.load(place) + sums)
    tl.debug_barrier()  # all have stored before the lock opens
    tl.atomic_xchg(locks, 0)


@triton.jit
def split_k_atomics(a, b, c, K, SPLITS: tl.constexpr, BLOCK: tl.constexpr):
    part = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    sums = tl.zeros((BLOCK, BLOCK), tl.float32)
    for first in range(part * K // SPLITS, (part + 1) * K // SPLITS, BLOCK):
        left = tl.load(a + at[:, None] * K + first + at[None, :])
        right = tl.load(b + (first + at[:, None]) * BLOCK + at[None, :])
        sums = tl.dot(left, right, sums)
    tl.atomic_add(c + at[:, None] * BLOCK + at[None, :], sums)


# ---- With a bug ----------------------------------------------------------------------------------------


@triton.jit
def mask_forgotten(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n))  # BUG: out-of-bounds


@triton.jit
def sum_without_atomics(x, total, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + at), 0)
    before = tl.load(total)  # WITH
    tl.store(total, before + part)  # BUG: race


@triton.jit
def neighbour_in_place(x, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(x + at, 1.0)  # WITH
    tl.store(x + BLOCK + at, tl.load(x + (BLOCK - 1 - at)))  # BUG: race
