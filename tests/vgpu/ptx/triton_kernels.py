# type: ignore - device code is Python in syntax only: its names are typed by Triton's compiler
"""Triton kernels whose PTX the parser is tried on."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, y, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + i, mask=i < n, other=-float("inf")).to(tl.float32)
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(y + row * stride + i, powers / tl.sum(powers, 0), mask=i < n)


@triton.jit
def matmul(a, b, c, k, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inner = tl.arange(0, 32)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, k, 32):
        left = tl.load(a + rows[:, None] * k + (start + inner)[None, :])
        right = tl.load(b + (start + inner)[:, None] * k + columns[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + rows[:, None] * k + columns[None, :], total)


@triton.jit
def histogram(keys, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(keys + i, mask=i < n, other=0)
    tl.atomic_add(counts + key, 1, mask=i < n)
    tl.atomic_cas(counts + BLOCK, 0, 1)


@triton.jit
def talk(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.device_print("value", value)
    tl.device_assert(value > 0, "positive")
    tl.store(x + i, tl.cumsum(value, 0), mask=i < n)
