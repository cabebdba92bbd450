"""Scan, rung 8: Triton. First the total of each part of a row, then each part from end to end.

maths    inclusive out[r, i] = x[r, 0] ⊕ … ⊕ x[r, i]; exclusive without x[r, i]; a head starts anew
layout   x, heads, out: (rows, n), contiguous; one row is the whole vector. totals, cuts: (rows, parts)
cost     rows (n - 1) operations ⊕; at least rows n (sizeof(T) + sizeof(Out)) bytes
improves warp: parts of a hundred thousand elements, so that two launches do, and one where rows are many
idea     ⊕ is written once, for two scalars; `tl.associative_scan` makes the tree of it. A program walks
         through its part block by block and carries what it has so far; it starts with the totals of the
         parts before its own, which it reduces itself. An exclusive scan is an inclusive one of the elements
         one place to the left. A segmented scan's total is a plain reduction too: of what stands behind the
         last head.
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
def add_since_head(a, a_is_cut, b, b_is_cut):
    return tl.where(b_is_cut != 0, b, a + b), a_is_cut | b_is_cut


@triton.jit
def larger_since_head(a, a_is_cut, b, b_is_cut):
    return tl.where(b_is_cut != 0, b, larger(a, b)), a_is_cut | b_is_cut


@triton.jit
def load_elements(x_ptr, heads_ptr, offsets, n, NOTHING, TYPE: tl.constexpr, EXCLUSIVE: tl.constexpr):
    """What each result adds to the one before it, and whether it starts anew."""
    inside = offsets < n
    is_head = tl.zeros_like(offsets).to(tl.int32)
    if heads_ptr is not None:
        is_head = (tl.load(heads_ptr + offsets, mask=inside, other=0) != 0).to(tl.int32)
    if EXCLUSIVE:
        inside = inside & (offsets > 0)
        x = tl.load(x_ptr + offsets - 1, mask=inside, other=NOTHING).to(TYPE)
        x = tl.where(is_head != 0, NOTHING, x)
    else:
        x = tl.load(x_ptr + offsets, mask=inside, other=NOTHING).to(TYPE)
    return x, is_head


@triton.jit
def total_since_head(x, is_head, place, NOTHING, OP: tl.constexpr, SEGMENTED: tl.constexpr):
    """What a block of elements hands on, and whether a head in it holds back what comes from the left."""
    is_cut = 0
    if SEGMENTED:
        last_head = tl.max(tl.where(is_head != 0, place, -1), 0)
        x = tl.where(place >= last_head, x, NOTHING)
        is_cut = (last_head >= 0).to(tl.int32)
    return tl.reduce(x, 0, add if OP == "sum" else larger), is_cut


@triton.jit
def hand_on(carry, carry_is_cut, total, is_cut, OP: tl.constexpr):
    if OP == "sum":
        carry, carry_is_cut = add_since_head(carry, carry_is_cut, total, is_cut)
    else:
        carry, carry_is_cut = larger_since_head(carry, carry_is_cut, total, is_cut)
    return carry, carry_is_cut


@triton.jit(do_not_specialize=["n", "part_length"])
def scan_kernel(
    x_ptr,
    heads_ptr,  # or None
    totals_ptr,  # of parts of a row, or None where a program has a row to itself
    cuts_ptr,
    out_ptr,
    n,
    part_length,  # a multiple of BLOCK
    OP: tl.constexpr,
    EXCLUSIVE: tl.constexpr,
    TOTALS_ONLY: tl.constexpr,  # the first of two launches
    PARTS: tl.constexpr,  # at least as many as there are parts: a power of two
    BLOCK: tl.constexpr,
):
    row = tl.program_id(0).to(tl.int64)
    part = tl.program_id(1)
    parts = tl.num_programs(1)
    if not x_ptr.dtype.element_ty.is_floating():
        TYPE: tl.constexpr = tl.int64 if OP == "sum" else tl.int32
        LOWEST: tl.constexpr = -(2**31)
    else:
        TYPE: tl.constexpr = tl.float32
        LOWEST: tl.constexpr = float("-inf")
    NOTHING: tl.constexpr = 0 if OP == "sum" else LOWEST
    SEGMENTED: tl.constexpr = heads_ptr is not None
    x_ptr += row * n
    out_ptr += row * n
    if SEGMENTED:
        heads_ptr += row * n

    carry = tl.full((), NOTHING, TYPE)
    carry_is_cut = tl.zeros((), tl.int32)
    if totals_ptr is not None and not TOTALS_ONLY:
        place = tl.arange(0, PARTS)
        is_before = place < part
        of_parts = tl.load(totals_ptr + row * parts + place, mask=is_before, other=NOTHING)
        are_cut = place * 0
        if SEGMENTED:
            are_cut = tl.load(cuts_ptr + row * parts + place, mask=is_before, other=0)
        carry, carry_is_cut = total_since_head(of_parts, are_cut, place, NOTHING, OP, SEGMENTED)

    # 64 bits: the loop's own offset passes 2^31 for tensors of more elements.
    start = part.to(tl.int64) * part_length
    place = tl.arange(0, BLOCK)
    for block in range(start, tl.minimum(start + part_length, n), BLOCK):
        offsets = block + place
        x, is_head = load_elements(x_ptr, heads_ptr, offsets, n, NOTHING, TYPE, EXCLUSIVE)
        if not TOTALS_ONLY:
            if SEGMENTED:
                scanned, since_cut = tl.associative_scan(
                    (x, is_head), 0, add_since_head if OP == "sum" else larger_since_head
                )
                scanned = tl.where(
                    since_cut != 0, scanned, carry + scanned if OP == "sum" else larger(carry, scanned)
                )
            else:
                scanned = tl.associative_scan(x, 0, add if OP == "sum" else larger)
                scanned = carry + scanned if OP == "sum" else larger(carry, scanned)
            tl.store(out_ptr + offsets, scanned.to(out_ptr.dtype.element_ty), mask=offsets < n)
        total, is_cut = total_since_head(x, is_head, place, NOTHING, OP, SEGMENTED)
        carry, carry_is_cut = hand_on(carry, carry_is_cut, total, is_cut, OP)

    if TOTALS_ONLY:
        tl.store(totals_ptr + row * parts + part, carry)
        if SEGMENTED:
            tl.store(cuts_ptr + row * parts + part, carry_is_cut)
