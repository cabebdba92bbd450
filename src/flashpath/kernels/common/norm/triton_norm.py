"""The Triton kernels of layer_norm and, with CENTERED false, of rms_norm: forward and backward."""

import triton
import triton.language as tl


@triton.jit
def load_row(x_ptr, residual_ptr, sum_ptr, start, columns, inside, ADDS: tl.constexpr, HINT: tl.constexpr):
    """Part of a row in float32, zeros beyond its end; with a residual it is the rounded sum, written too."""
    x = tl.load(x_ptr + start + columns, mask=inside, other=0.0, eviction_policy=HINT)
    if ADDS:
        residual = tl.load(residual_ptr + start + columns, mask=inside, other=0.0, eviction_policy=HINT)
        x = (x.to(tl.float32) + residual.to(tl.float32)).to(x.dtype)
        tl.store(sum_ptr + start + columns, x, mask=inside)
    return x.to(tl.float32)


@triton.jit
def store_row(
    x, weight_ptr, bias_ptr, out_ptr, start, columns, inside, OFFSET: tl.constexpr, HINT: tl.constexpr
):
    """x * (OFFSET + weight) + bias."""
    if weight_ptr is not None:
        weight = tl.load(weight_ptr + columns, mask=inside, other=0.0, eviction_policy=HINT).to(tl.float32)
        x *= weight if OFFSET == 0 else OFFSET + weight
    if bias_ptr is not None:
        x += tl.load(bias_ptr + columns, mask=inside, other=0.0, eviction_policy=HINT).to(tl.float32)
    tl.store(out_ptr + start + columns, x.to(out_ptr.dtype.element_ty), mask=inside)


@triton.jit
def inside_row(columns, n, IS_FULL: tl.constexpr):
    return tl.full(columns.shape, True, tl.int1) if IS_FULL else columns < n


@triton.jit
def add_moments(count, mean, m2, x, left, IS_FULL: tl.constexpr, GROUPS: tl.constexpr, WIDTH: tl.constexpr):
    """Count, mean and squared distances from it of GROUPS groups of columns, with those of x, (BLOCK), added.

    A group has every GROUPS-th pack of WIDTH columns: those that one thread loads. `left` columns are left of
    the row; where x has more, they are 0."""
    PACKS: tl.constexpr = x.shape[0] // (GROUPS * WIDTH)
    x = tl.reshape(x, (PACKS, GROUPS, WIDTH))
    more = tl.full((GROUPS,), PACKS * WIDTH, tl.float32)
    if not IS_FULL:
        of_group = left - WIDTH * tl.arange(0, GROUPS)
        more = tl.zeros((GROUPS,), tl.float32)
        for pack in tl.static_range(PACKS):
            more += tl.minimum(tl.maximum(of_group - pack * GROUPS * WIDTH, 0), WIDTH).to(tl.float32)
    its_mean = tl.sum(tl.sum(x, 2), 0) / tl.maximum(more, 1.0)  # (GROUPS)
    x -= its_mean[None, :, None]
    if not IS_FULL:
        columns = tl.reshape(tl.arange(0, PACKS * GROUPS * WIDTH), (PACKS, GROUPS, WIDTH))
        x = tl.where(columns < left, x, 0.0)
    distance = its_mean - mean
    share = more / tl.maximum(count + more, 1.0)
    # The smallest factors come first: a large mean has a square that is infinite, even of no elements.
    m2 += tl.sum(tl.sum(x * x, 2), 0) + count * share * distance * distance
    return count + more, mean + distance * share, m2


@triton.jit
def forward_kernel(
    x_ptr,
    residual_ptr,  # or None
    weight_ptr,  # or None
    bias_ptr,  # or None
    out_ptr,
    sum_ptr,  # of x and residual, or None
    mean_ptr,  # or None
    rstd_ptr,  # or None
    n,
    count,  # n as a float: its quotients are rounded as a division's
    eps,
    CENTERED: tl.constexpr,
    IS_WHOLE: tl.constexpr,  # the row is held
    IS_FULL: tl.constexpr,  # n is a multiple of 2 BLOCK
    OFFSET: tl.constexpr,  # what is added to each weight
    GROUPS: tl.constexpr,  # of the columns of a row that is not held: threads
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    start = row * n
    columns = tl.arange(0, BLOCK)
    adds: tl.constexpr = residual_ptr is not None
    mean = 0.0
    if IS_WHOLE:
        inside = columns < n
        x = load_row(x_ptr, residual_ptr, sum_ptr, start, columns, inside, adds, "")  # (BLOCK)
        if CENTERED:
            mean = tl.div_rn(tl.sum(x), count)
            x = tl.where(inside, x - mean, 0.0)
        rstd = 1.0 / tl.sqrt_rn(tl.sum(x * x) / count + eps)
        store_row(x * rstd, weight_ptr, bias_ptr, out_ptr, start, columns, inside, OFFSET, "")
    else:
        # The first walk adds the residual; the second reads the sum, or x where there is none.
        many = tl.zeros((GROUPS,), tl.float32)
        means = tl.zeros((GROUPS,), tl.float32)
        squares = tl.zeros((GROUPS,), tl.float32)
        width: tl.constexpr = 128 // x_ptr.dtype.element_ty.primitive_bitwidth
        first_hint: tl.constexpr = "" if adds else "evict_last"
        for begin in range(0, n, 2 * BLOCK):
            for half in tl.static_range(2):  # both are asked for before the first is summed
                first = begin + half * BLOCK
                inside = inside_row(first + columns, n, IS_FULL)
                x = load_row(x_ptr, residual_ptr, sum_ptr, start, first + columns, inside, adds, first_hint)
                if CENTERED:
                    many, means, squares = add_moments(
                        many, means, squares, x, n - first, IS_FULL, GROUPS, width
                    )
                else:
                    packs = tl.reshape(x, (BLOCK // (GROUPS * width), GROUPS, width))
                    squares += tl.sum(tl.sum(packs * packs, 2), 0)
        if CENTERED:
            mean = tl.div_rn(tl.sum(many * means), count)
            squares += many * (means - mean) * (means - mean)
        rstd = 1.0 / tl.sqrt_rn(tl.sum(squares) / count + eps)
        again_ptr = sum_ptr if adds else x_ptr
        if adds:
            tl.debug_barrier()  # another thread may have written what one reads back
        for begin in range(0, n, 2 * BLOCK):
            for half in tl.static_range(2):
                first = begin + half * BLOCK
                inside = inside_row(first + columns, n, IS_FULL)
                x = load_row(again_ptr, None, None, start, first + columns, inside, False, "evict_first")
                x = (x - mean) * rstd
                store_row(
                    x, weight_ptr, bias_ptr, out_ptr, start, first + columns, inside, OFFSET, "evict_last"
                )
    if rstd_ptr is not None:
        tl.store(rstd_ptr + row, rstd)
        if CENTERED:
            tl.store(mean_ptr + row, mean)


@triton.jit
def backward_kernel(
    dy_ptr,
    x_ptr,
    weight_ptr,  # or None
    mean_ptr,  # None unless CENTERED
    rstd_ptr,
    added_ptr,  # to dx, or None
    dx_ptr,
    of_weight_ptr,  # (programs, n)
    of_bias_ptr,  # (programs, n), None unless CENTERED
    rows,
    n,
    count,  # n as a float
    CENTERED: tl.constexpr,
    OFFSET: tl.constexpr,
    BLOCK: tl.constexpr,
):
    program = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < n
    weight = tl.full((BLOCK,), 1.0, tl.float32)
    if weight_ptr is not None:
        weight = tl.load(weight_ptr + columns, mask=inside, other=0.0).to(tl.float32)
        if OFFSET != 0:
            weight += OFFSET
    of_weight = tl.zeros((BLOCK,), tl.float32)
    of_bias = tl.zeros((BLOCK,), tl.float32)
    for row in range(program, rows, tl.num_programs(0)):
        start = row * n
        dy = tl.load(dy_ptr + start + columns, mask=inside, other=0.0).to(tl.float32)
        x = tl.load(x_ptr + start + columns, mask=inside, other=0.0).to(tl.float32)
        rstd = tl.load(rstd_ptr + row)
        if CENTERED:
            x = tl.where(inside, x - tl.load(mean_ptr + row), 0.0)
        normal = x * rstd
        g = dy * weight
        of_weight += dy * normal
        dx = g - normal * (tl.sum(g * normal) / count)
        if CENTERED:
            of_bias += dy
            dx -= tl.div_rn(tl.sum(g), count)
        dx *= rstd
        if added_ptr is not None:
            dx += tl.load(added_ptr + start + columns, mask=inside, other=0.0).to(tl.float32)
        tl.store(dx_ptr + start + columns, dx.to(dx_ptr.dtype.element_ty), mask=inside)
    tl.store(of_weight_ptr + program * n + columns, of_weight, mask=inside)
    if CENTERED:
        tl.store(of_bias_ptr + program * n + columns, of_bias, mask=inside)


@triton.jit
def add_partials_kernel(partials_ptr, out_ptr, count, n, AT_ONCE: tl.constexpr, COLUMNS: tl.constexpr):
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((AT_ONCE, COLUMNS), tl.float32)
    for first in range(0, count, AT_ONCE):
        these = first + tl.arange(0, AT_ONCE)
        inside = (these < count)[:, None] & (columns < n)[None, :]
        places = these.to(tl.int64)[:, None] * n + columns[None, :]
        total += tl.load(partials_ptr + places, mask=inside, other=0.0)
    tl.store(out_ptr + columns, tl.sum(total, 0).to(out_ptr.dtype.element_ty), mask=columns < n)
