"""Triton kernels that write, for each element of a tensor, the number of the thread that holds it."""
# pyright: basic

import triton
import triton.language as tl


@triton.jit
def _thread(x):
    return tl.inline_asm_elementwise(
        "mov.u32 $0, %tid.x; // $1", "=r,r", [x], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def product(a, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    sums = tl.dot(tl.load(a + rows * K + k[None, :]), tl.load(a + k[:, None] * N + columns))
    tl.store(out + rows * N + columns, _thread(sums.to(tl.int32)))


@triton.jit
def tile(a, out, M: tl.constexpr, N: tl.constexpr):
    places = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + places, _thread(tl.load(a + places)))


@triton.jit
def vector(a, out, N: tl.constexpr):
    places = tl.arange(0, N)
    tl.store(out + places, _thread(tl.load(a + places)))


@triton.jit
def maxima(a, out, N: tl.constexpr, AXIS: tl.constexpr):
    places = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + tl.arange(0, N), _thread(tl.max(tl.load(a + places), AXIS)))
