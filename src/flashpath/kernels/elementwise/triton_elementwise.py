"""Elementwise operations, rung 5: Triton. One program takes one block; a chain is fused by writing it down.

maths    out[i] = f(x[i]), or f(x[i], y[i]); gated: out[r, c] = act(x[r, c]) * x[r, d + c]
layout   x, y, out: (n), contiguous; gated: x (rows, 2 d), out (rows, d), contiguous
cost     1 to about 27 FLOPs an element; at least 2 n sizeof(T) bytes, 3 n with two inputs or halves
improves fused_chain: as few bytes in fewer lines; widths, tails and alignment are the compiler's business
idea     the operation is a constant when the kernel is compiled, so `if` picks the formula and costs nothing.
         A gated operation takes one program per piece of a row: no element has to find its row by dividing.
"""

import triton
import triton.language as tl


@triton.jit
def times_sigmoid(x, t):
    return x / (1.0 + tl.exp(-t))


@triton.jit
def max_or_nan(a, b):
    return tl.where((a > b) | (a != a), a, b)


@triton.jit
def min_or_nan(a, b):
    return tl.where((a < b) | (a != a), a, b)


@triton.jit
def sigmoid(t):
    """σ(t) and 1 - σ(t), neither by a subtraction that cancels, for any t."""
    e = tl.exp(-tl.abs(t))
    larger = 1.0 / (1.0 + e)
    smaller = e * larger
    return tl.where(t < 0, smaller, larger), tl.where(t < 0, larger, smaller)


@triton.jit
def with_slope(x, ACTIVATION: tl.constexpr):
    """An activation and its derivative."""
    if ACTIVATION == "Gelu":
        probability = 0.5 * (1.0 + tl.erf(0.7071067811865476 * x))
        result = x * probability, probability + x * 0.3989422804014327 * tl.exp(-0.5 * x * x)
    elif ACTIVATION == "GeluTanh":
        value, rest = sigmoid(1.5957691216057308 * x * (1.0 + 0.044715 * x * x))
        result = x * value, value + x * (value * rest) * (1.5957691216057308 * (1.0 + 0.134145 * x * x))
    else:
        tl.static_assert(ACTIVATION == "Silu")
        value, rest = sigmoid(x)
        result = x * value, value * (1.0 + x * rest)
    return result


@triton.jit
def backward(dout, x, ACTIVATION: tl.constexpr):
    """The gradient of an activation's input."""
    if ACTIVATION == "Relu":
        result = tl.where(x <= 0, 0.0, dout)  # no product: 0 below 0 even of an infinite gradient
    else:
        _, slope = with_slope(x, ACTIVATION)
        result = dout * slope
    return result


@triton.jit
def activated(x, ACTIVATION: tl.constexpr):
    if ACTIVATION == "Gelu":
        result = 0.5 * x * (1.0 + tl.erf(0.7071067811865476 * x))
    elif ACTIVATION == "GeluTanh":
        # x (1 + tanh u) / 2 = x / (1 + e^-2u)
        result = times_sigmoid(x, 1.5957691216057308 * x * (1.0 + 0.044715 * x * x))
    else:
        tl.static_assert(ACTIVATION == "Silu")
        result = times_sigmoid(x, x)
    return result


@triton.jit
def step(x, y, first, second, STEP: tl.constexpr):
    """One step of an operation: the names are those of operations.cuh."""
    if STEP == "Scale":
        result = x * first
    elif STEP == "Add":
        result = x + y
    elif STEP == "Relu":
        result = max_or_nan(x, tl.zeros_like(x))
    elif STEP == "Clamp":
        result = min_or_nan(max_or_nan(x, first), second)
    elif STEP == "Gated<Gelu>":
        result = activated(x, "Gelu") * y
    elif STEP == "Gated<GeluTanh>":
        result = activated(x, "GeluTanh") * y
    elif STEP == "Gated<Silu>":
        result = activated(x, "Silu") * y
    elif STEP == "ClampBackward":
        result = tl.where((y >= first) & (y <= second), x, 0.0)
    elif STEP == "Backward<Relu>":
        result = backward(x, y, "Relu")
    elif STEP == "Backward<Gelu>":
        result = backward(x, y, "Gelu")
    elif STEP == "Backward<GeluTanh>":
        result = backward(x, y, "GeluTanh")
    elif STEP == "Backward<Silu>":
        result = backward(x, y, "Silu")
    else:
        result = activated(x, STEP)
    return result


@triton.jit
def widened(x):
    """Half types are computed in float32 and rounded once, by the store; integers stay."""
    return x.to(tl.float32) if x.dtype.is_floating() else x


@triton.jit
def map_kernel(
    x_ptr,
    y_ptr,
    out_ptr,
    first,
    second,
    n,
    STEP0: tl.constexpr,
    STEP1: tl.constexpr,
    STEP2: tl.constexpr,
    READS_Y: tl.constexpr,
    BLOCK: tl.constexpr,
):
    # 64 bits: program_id * BLOCK passes 2^31 for tensors of more elements.
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = offsets < n
    x = widened(tl.load(x_ptr + offsets, mask=inside))
    y = x
    if READS_Y:
        y = widened(tl.load(y_ptr + offsets, mask=inside))
    x = step(x, y, first, second, STEP0)
    if STEP1 != "":
        x = step(x, y, first, second, STEP1)
    if STEP2 != "":
        x = step(x, y, first, second, STEP2)
    tl.store(out_ptr + offsets, x, mask=inside)


@triton.jit
def gate_kernel(x_ptr, out_ptr, d, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    # One dimension of programs, piece after piece of row after row: a second one ends at 65,535.
    pieces = tl.cdiv(d, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    columns = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = columns < d
    x = widened(tl.load(x_ptr + row * 2 * d + columns, mask=inside))
    y = widened(tl.load(x_ptr + row * 2 * d + d + columns, mask=inside))
    tl.store(out_ptr + row * d + columns, step(x, y, 0.0, 0.0, ACTIVATION) * y, mask=inside)


# ---- Gradients with two results --------------------------------------------------------------------------


@triton.jit
def gate_backward_kernel(dout_ptr, x_ptr, dx_ptr, d, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    pieces = tl.cdiv(d, BLOCK)
    row = (tl.program_id(0) // pieces).to(tl.int64)
    columns = (tl.program_id(0) % pieces).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = columns < d
    dout = widened(tl.load(dout_ptr + row * d + columns, mask=inside))
    gate = widened(tl.load(x_ptr + row * 2 * d + columns, mask=inside))
    up = widened(tl.load(x_ptr + row * 2 * d + d + columns, mask=inside))
    value, slope = with_slope(gate, ACTIVATION)
    tl.store(dx_ptr + row * 2 * d + columns, dout * up * slope, mask=inside)
    tl.store(dx_ptr + row * 2 * d + d + columns, dout * value, mask=inside)


@triton.jit
def pair_backward_kernel(
    dout_ptr,
    x_ptr,
    y_ptr,
    dx_ptr,
    dy_ptr,
    factor,
    n,
    GATED: tl.constexpr,
    ACTIVATION: tl.constexpr,
    BLOCK: tl.constexpr,
):
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    inside = offsets < n
    dout = widened(tl.load(dout_ptr + offsets, mask=inside))
    x = widened(tl.load(x_ptr + offsets, mask=inside))
    y = widened(tl.load(y_ptr + offsets, mask=inside))
    if GATED:
        value, slope = with_slope(x, ACTIVATION)
        dx, dy = dout * y * slope, dout * value
    else:
        dy = backward(dout, factor * x + y, ACTIVATION)
        dx = factor * dy
    tl.store(dx_ptr + offsets, dx, mask=inside)
    tl.store(dy_ptr + offsets, dy, mask=inside)
