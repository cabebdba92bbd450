"""Triton kernels whose results are compared with those of a GPU, bit by bit: see kernels.cu beside this."""

from __future__ import annotations

# pyright: basic, reportOperatorIssue=false
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    tl.store(out + at, tl.load(x + at, mask=mask) + tl.load(y + at, mask=mask), mask=mask)


@triton.jit
def gelu(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    a = tl.load(x + at, mask=mask)
    inner = 0.7978845608 * (a + 0.044715 * a * a * a)
    tl.store(out + at, 0.5 * a * (1.0 + libdevice.tanh(inner)), mask=mask)


@triton.jit
def swiglu(gate, up, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    g = tl.load(gate + at, mask=mask).to(tl.float32)
    u = tl.load(up + at, mask=mask).to(tl.float32)
    tl.store(out + at, (g * tl.sigmoid(g) * u).to(tl.float16), mask=mask)


@triton.jit
def softmax(x, out, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * width
    values = tl.load(x + row + at, mask=at < width, other=-float("inf"))
    weights = tl.exp(values - tl.max(values, 0))
    tl.store(out + row + at, weights / tl.sum(weights, 0), mask=at < width)


@triton.jit
def layer_norm(x, weight, bias, out, width, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < width
    row = tl.program_id(0) * width
    values = tl.load(x + row + at, mask=mask, other=0.0)
    mean = tl.sum(values, 0) / width
    centred = tl.where(mask, values - mean, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, 0) / width + eps)
    w = tl.load(weight + at, mask=mask)
    b = tl.load(bias + at, mask=mask)
    tl.store(out + row + at, centred * scale * w + b, mask=mask)


@triton.jit
def rms_norm(x, weight, out, width, eps, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    mask = at < width
    row = tl.program_id(0) * width
    values = tl.load(x + row + at, mask=mask, other=0.0)
    scale = 1.0 / tl.sqrt(tl.sum(values * values, 0) / width + eps)
    tl.store(out + row + at, values * scale * tl.load(weight + at, mask=mask), mask=mask)


@triton.jit
def reductions(x, out, width, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    values = tl.load(x + row * width + at)
    mean = tl.sum(values, 0) / BLOCK
    tl.store(out + row * 4, mean)
    tl.store(out + row * 4 + 1, tl.max(values, 0))
    tl.store(out + row * 4 + 2, tl.argmin(values, 0).to(tl.float32))
    tl.store(out + row * 4 + 3, tl.sum((values - mean) * (values - mean), 0))


@triton.jit
def cumulative_sum(x, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.cumsum(tl.load(x + at), 0))


@triton.jit
def dropout(x, out, n, seed, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    kept = tl.rand(seed, at) > 0.3
    tl.store(out + at, tl.where(kept, tl.load(x + at, mask=mask) / 0.7, 0.0), mask=mask)


@triton.jit
def rope(x, cosines, sines, out, width, HALF: tl.constexpr):
    at = tl.arange(0, HALF)
    row = tl.program_id(0)
    a = tl.load(x + row * width + at)
    b = tl.load(x + row * width + HALF + at)
    c = tl.load(cosines + row * HALF + at)
    s = tl.load(sines + row * HALF + at)
    tl.store(out + row * width + at, a * c - b * s)
    tl.store(out + row * width + HALF + at, a * s + b * c)


@triton.jit
def matmul(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * N + tl.arange(0, N)
    depth = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, n, K):
        left = tl.load(a + rows[:, None] * n + k + depth[None, :])
        right = tl.load(b + (k + depth)[:, None] * n + columns[None, :])
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + rows[:, None] * n + columns[None, :], total)


@triton.jit
def flash_attention(
    q, k, v, out, length, scale, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr
):
    head = tl.program_id(1) * length * D
    rows = tl.program_id(0) * M + tl.arange(0, M)
    dims = tl.arange(0, D)
    queries = tl.load(q + head + rows[:, None] * D + dims[None, :])
    m = tl.full((M,), -float("inf"), tl.float32)
    l = tl.zeros((M,), tl.float32)  # noqa: E741 (as the paper calls it)
    acc = tl.zeros((M, D), tl.float32)
    for first in range(0, length, N):
        keys = first + tl.arange(0, N)
        scores = tl.dot(queries, tl.trans(tl.load(k + head + keys[:, None] * D + dims[None, :])))
        scores = scores * (scale * 1.44269504)
        if CAUSAL:
            scores = tl.where(rows[:, None] >= keys[None, :], scores, -float("inf"))
        top = tl.maximum(m, tl.max(scores, 1))
        weights = tl.exp2(scores - top[:, None])
        shrink = tl.exp2(m - top)
        l = l * shrink + tl.sum(weights, 1)  # noqa: E741
        acc = acc * shrink[:, None]
        values = tl.load(v + head + keys[:, None] * D + dims[None, :])
        acc = tl.dot(weights.to(values.dtype), values, acc)
        m = top
    tl.store(out + head + rows[:, None] * D + dims[None, :], (acc / l[:, None]).to(out.dtype.element_ty))
