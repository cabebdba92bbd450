"""Cross entropy: Triton, forward and backward.

maths    m = max z[r, :]; l = Σ e^(z[r, i] - m); lse = m + log l, t = target[r]; loss[r] =
         (1 - s)(lse - z[r, t]) + s (lse - Σ z[r, i] / n) + z_loss lse²; z = cap tanh(x / cap), or x;
         dx = g ((1 + 2 z_loss lse) e^(z - lse) - s / n - (1 - s) [i = t]) dz/dx
layout   logits, dx: (rows, n), contiguous; target: (rows), int64; losses, lse: (rows), float32; grad: (rows),
         or one number
cost     6 rows n FLOPs, backward 5; at least rows n sizeof(T) bytes, backward 2
improves vectorized: a third of the lines.
idea     forward, a program walks through a row with {m, l} for each of BLOCK columns, which are combined at
         the end: nothing crosses threads on the way. Backward, a program has a BLOCK of a row: nothing in it
         waits for anything else.
"""

import triton
import triton.language as tl
from triton.language.extra import libdevice

LOG2E = tl.constexpr(1.4426950408889634)


@triton.jit
def logits_of(x, cap, CAPPED: tl.constexpr):
    """x in float32, or cap tanh(x / cap)."""
    x = x.to(tl.float32)
    if CAPPED:
        x = cap * libdevice.tanh(x / cap)
    return x


@triton.jit
def forward_kernel(
    logits_ptr,
    target_ptr,
    losses_ptr,
    lse_ptr,
    n,
    ignored,
    smoothing,
    z_loss,
    cap,
    CAPPED: tl.constexpr,
    SMOOTH: tl.constexpr,
    HAS_Z: tl.constexpr,
    EVERY: tl.constexpr,  # rows that are ignored have an lse too
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    start = row * n
    target = tl.load(target_ptr + row)
    is_ignored = target == ignored
    counts = (target >= 0) & (target < n) & (target != ignored)
    loss = 0.0
    lse = 0.0
    if EVERY or not is_ignored:
        label = logits_of(tl.load(logits_ptr + start + target, mask=counts, other=0.0), cap, CAPPED)
        at = tl.where(label - label == 0.0, label, 0.0)  # what distances are taken from: a number
        columns = tl.arange(0, BLOCK)
        m = tl.full((BLOCK,), float("-inf"), tl.float32)  # (BLOCK)
        total = tl.zeros((BLOCK,), tl.float32)
        below = tl.zeros((BLOCK,), tl.float32)
        for begin in range(0, n, BLOCK):
            inside = begin + columns < n
            x = tl.load(logits_ptr + start + begin + columns, mask=inside, other=float("-inf"))
            z = tl.where(inside, logits_of(x, cap, CAPPED), float("-inf"))
            larger = tl.maximum(m, z)
            # Where nothing but -inf was seen, 0 is subtracted: the sum is 0.
            shift = tl.where(larger == float("-inf"), 0.0, larger)
            total = total * tl.exp2((m - shift) * LOG2E) + tl.exp2((z - shift) * LOG2E)
            m = larger
            if SMOOTH:
                below += tl.where(inside, at - z, 0.0)
        of_row = tl.max(m, 0)
        shift = tl.where(of_row == float("-inf"), 0.0, of_row)
        log_l = tl.log(tl.sum(total * tl.exp2((m - shift) * LOG2E), 0))
        lse = of_row + log_l
        loss = (of_row - label) + log_l
        if SMOOTH:
            others = (of_row - at) + log_l + tl.sum(below, 0) / n
            loss = (1 - smoothing) * loss + smoothing * others
        if HAS_Z:
            loss += z_loss * lse * lse
        loss = tl.where(is_ignored, 0.0, tl.where(counts, loss, float("nan")))
    tl.store(losses_ptr + row, loss)
    tl.store(lse_ptr + row, lse)


@triton.jit
def backward_kernel(
    grad_ptr,
    logits_ptr,
    target_ptr,
    lse_ptr,
    dx_ptr,
    n,
    ignored,
    smoothing,
    z_loss,
    cap,
    STRIDE: tl.constexpr,  # of grad: 0 where all rows have the same
    CAPPED: tl.constexpr,
    HAS_Z: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside = columns < n
    target = tl.load(target_ptr + row)
    is_ignored = target == ignored
    counts = (target >= 0) & (target < n) & (target != ignored)
    grad = tl.load(grad_ptr + row * STRIDE)
    lse = tl.load(lse_ptr + row)
    x = tl.load(logits_ptr + row * n + columns, mask=inside & counts, other=0.0)
    z = logits_of(x, cap, CAPPED)
    p = tl.exp2((z - lse) * LOG2E)
    if HAS_Z:
        p *= 1 + 2 * z_loss * lse
    d = p - smoothing / n - tl.where(columns == target, 1 - smoothing, 0.0)
    if CAPPED:
        d *= 1 - (z / cap) * (z / cap)
    d = tl.where(is_ignored, 0.0, tl.where(counts, d * grad, float("nan")))
    tl.store(dx_ptr + row * n + columns, d.to(dx_ptr.dtype.element_ty), mask=inside)
