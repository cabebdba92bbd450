"""Reduction, rung 9: Triton. Programs keep one running state per element of a block, and fold it at the end.

maths    out[r] = x[r, 0] ⊕ x[r, 1] ⊕ … ⊕ x[r, n - 1], ⊕ a sum, an extremum, or a maximum with its index
layout   x: (rows, n), contiguous; one row is the whole tensor. out: (rows), or (rows, programs per row)
cost     rows (n - 1) operations ⊕; at least rows n sizeof(T) bytes
improves vectorized and by_row: one kernel for whole tensors and rows, and no thread, shuffle or barrier in it
idea     ⊕ is written once, for two scalars; `tl.reduce` makes the tree of it. Where rows are few, several
         programs share one and a second launch of the same kernel reduces what they left.
"""

import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def larger(a, b):
    # A NaN is larger than every number.
    return tl.where((b > a) | (b != b), b, a)


@triton.jit
def smaller(a, b):
    return tl.where((b < a) | (b != b), b, a)


@triton.jit
def larger_first(a, i, b, j):
    b_exceeds = (b > a) | ((b != b) & (a == a))
    is_tie = (a == b) | ((a != a) & (b != b))
    take_b = b_exceeds | (is_tie & (j < i))
    return tl.where(take_b, b, a), tl.where(take_b, j, i)


@triton.jit(do_not_specialize=["count"])  # a count of 1 would come as a Python number
def reduce_kernel(
    x_ptr,
    index_ptr,  # of partial results of argmax: where each was found; else None
    out_ptr,
    out_index_ptr,  # for partial results of argmax; else None
    n,
    count,  # of the elements that a mean is of
    OP: tl.constexpr,
    IS_LAST: tl.constexpr,
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    parts = tl.num_programs(1)
    adds: tl.constexpr = OP == "sum" or OP == "mean"
    is_whole: tl.constexpr = not x_ptr.dtype.element_ty.is_floating()
    if is_whole:
        value_type: tl.constexpr = tl.int64 if adds else tl.int32
        lowest: tl.constexpr = 2**31 - 1 if OP == "min" else -(2**31)
    else:
        value_type: tl.constexpr = tl.float32
        lowest: tl.constexpr = float("inf") if OP == "min" else float("-inf")
    nothing: tl.constexpr = 0 if adds else lowest

    state = tl.full((BLOCK,), nothing, value_type)  # (BLOCK)
    where = tl.zeros((BLOCK,), tl.int64)  # 0: where nothing exceeds the lowest value, the first one is it
    # 64 bits: row * n and the loop's own offset pass 2^31 for tensors of more elements.
    for start in range(part.to(tl.int64) * BLOCK, n, parts.to(tl.int64) * BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        inside = offsets < n
        x = tl.load(x_ptr + row * n + offsets, mask=inside, other=nothing).to(value_type)
        if adds:
            state += x
        elif OP == "max":
            state = larger(state, x)
        elif OP == "min":
            state = smaller(state, x)
        else:
            found = offsets
            if index_ptr is not None:
                found = tl.load(index_ptr + row * n + offsets, mask=inside, other=0)
            state, where = larger_first(state, where, x, found)

    place = row * parts + part
    if OP == "argmax":
        best, index = tl.reduce((state, where), 0, larger_first)
        if IS_LAST:
            tl.store(out_ptr + place, index)
        else:
            tl.store(out_ptr + place, best)
            tl.store(out_index_ptr + place, index)
    else:
        result = tl.reduce(state, 0, add if adds else smaller if OP == "min" else larger)
        if OP == "mean" and IS_LAST:
            result = tl.div_rn(result, count.to(tl.float32))
        tl.store(out_ptr + place, result.to(out_ptr.dtype.element_ty))
