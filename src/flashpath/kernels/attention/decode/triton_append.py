"""A step's keys and values into the cache, its queries and keys rotated on the way, in Triton.

maths    (x, y) → (x c - y s, x s + y c) for the pairs of a row's first 2 · pairs elements; cache.py has more
layout   q: (batch, queries, heads, dim); k, v: (batch, new, kv_heads, dim); the cache dense or in pages
cost     3 FLOPs for each rotated element; every row is read once and written once
idea     one launch does all three: a program has one row of q, of k or of v, which its number tells. What
         would be three kernels and two copies of tensors is one pass over a few kilobytes, of which the
         launch is the larger part.
"""

import triton
import triton.language as tl


@triton.jit
def _rotated(row_ptr, cos_ptr, sin_ptr, position, element, dim, pairs, INTERLEAVED: tl.constexpr):
    """The row's elements, turned by the position's angles. The partner of each is read a second time: L1."""
    x = tl.load(row_ptr + element, mask=element < dim, other=0.0).to(tl.float32)
    turns = element < 2 * pairs
    if INTERLEAVED:
        pair, partner, is_first = element // 2, element ^ 1, element % 2 == 0
    else:
        pair = element % pairs
        is_first = element < pairs
        partner = tl.where(is_first, element + pairs, element - pairs)
    y = tl.load(row_ptr + partner, mask=turns, other=0.0).to(tl.float32)
    c = tl.load(cos_ptr + position * pairs + pair, mask=turns, other=1.0).to(tl.float32)
    s = tl.load(sin_ptr + position * pairs + pair, mask=turns, other=0.0).to(tl.float32)
    return x * c + tl.where(is_first, -y, y) * s


@triton.jit(do_not_specialize=["queries", "new", "pairs"])
def append_kernel(
    q_ptr,
    turned_q_ptr,
    k_ptr,
    v_ptr,
    k_cache_ptr,
    v_cache_ptr,
    lengths_ptr,
    page_table_ptr,
    batch_index_ptr,
    cos_ptr,
    sin_ptr,
    q_strides,  # (batch, row, head)
    turned_strides,
    k_strides,
    v_strides,
    k_cache_strides,  # (page or batch, row, head)
    v_cache_strides,
    table_stride,
    queries,
    new,
    heads,
    kv_heads,
    dim,
    v_dim,
    page_size,
    pairs,
    HAS_ROTARY: tl.constexpr,
    INTERLEAVED: tl.constexpr,
    QUERIES_MOVE: tl.constexpr,  # whether each query has a position of its own
    BLOCK: tl.constexpr,
):
    batch = tl.program_id(1)
    number = tl.program_id(0)  # rows of q, if they turn, then of k, then of v
    element = tl.arange(0, BLOCK)
    length = tl.load(lengths_ptr + batch)
    batch_64 = batch.to(tl.int64)
    if HAS_ROTARY:
        row, head = number // heads, number % heads
        position = length
        if QUERIES_MOVE:
            position += row
        if row < queries:
            q_ptr += batch_64 * q_strides[0] + row * q_strides[1] + head * q_strides[2]
            turned_q_ptr += batch_64 * turned_strides[0] + row * turned_strides[1] + head * turned_strides[2]
            turned = _rotated(q_ptr, cos_ptr, sin_ptr, position, element, dim, pairs, INTERLEAVED)
            tl.store(turned_q_ptr + element, turned.to(turned_q_ptr.dtype.element_ty), mask=element < dim)
            return
        number -= queries * heads

    is_v = number >= new * kv_heads
    number -= tl.where(is_v, new * kv_heads, 0)
    row, head = number // kv_heads, number % kv_heads
    position = length + row
    page, place = batch_64, position
    if batch_index_ptr is not None:
        page = tl.load(batch_index_ptr + batch).to(tl.int64)
    if page_table_ptr is not None:
        page = tl.load(page_table_ptr + batch_64 * table_stride + position // page_size).to(tl.int64)
        place = position % page_size
    if is_v:
        v_ptr += batch_64 * v_strides[0] + row * v_strides[1] + head * v_strides[2]
        v_cache_ptr += page * v_cache_strides[0] + place.to(tl.int64) * v_cache_strides[1]
        v = tl.load(v_ptr + element, mask=element < v_dim)
        tl.store(v_cache_ptr + head * v_cache_strides[2] + element, v, mask=element < v_dim)
    else:
        k_ptr += batch_64 * k_strides[0] + row * k_strides[1] + head * k_strides[2]
        k_cache_ptr += page * k_cache_strides[0] + place.to(tl.int64) * k_cache_strides[1]
        if HAS_ROTARY:
            k = _rotated(k_ptr, cos_ptr, sin_ptr, position, element, dim, pairs, INTERLEAVED)
        else:
            k = tl.load(k_ptr + element, mask=element < dim)
        to_ptr = k_cache_ptr + head * k_cache_strides[2]
        tl.store(to_ptr + element, k.to(to_ptr.dtype.element_ty), mask=element < dim)
