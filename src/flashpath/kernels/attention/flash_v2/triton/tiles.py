"""Where a program's rows lie: in which sequence, at which addresses, and which tiles it has to walk over."""

import triton
import triton.language as tl


@triton.jit
def sequence(batch, cu_q_ptr, cu_k_ptr, queries, keys, VARLEN: tl.constexpr):
    """Of number `batch`: (its first row of q, of k, queries, keys, its batch in a descriptor)."""
    if VARLEN:
        q_row, k_row = tl.load(cu_q_ptr + batch), tl.load(cu_k_ptr + batch)
        queries, keys = tl.load(cu_q_ptr + batch + 1) - q_row, tl.load(cu_k_ptr + batch + 1) - k_row
        of_batch = batch * 0
    else:
        q_row, k_row, of_batch = batch * 0, batch * 0, batch
    return q_row, k_row, queries, keys, of_batch


@triton.jit
def filled_up(row, batch, VARLEN: tl.constexpr, ROWS: tl.constexpr):
    """Where a sequence that begins at `row` begins if every sequence is filled up to whole tiles."""
    return (row + batch * ROWS) // ROWS * ROWS if VARLEN else row


@triton.jit
def addresses(ptr, strides, batch, row, head, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """(ROWS, COLUMNS) of a head, from `row` on. 64 bits: places pass 2^31 in tensors of more elements."""
    ptr += batch.to(tl.int64) * strides[0] + row.to(tl.int64) * strides[1] + head.to(tl.int64) * strides[2]
    return ptr + tl.arange(0, ROWS)[:, None] * strides[1] + tl.arange(0, COLUMNS)[None, :]


@triton.jit
def inside(first, rows, dim, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """(ROWS, COLUMNS): which of them, from row `first` of a sequence on, there are."""
    return (first + tl.arange(0, ROWS) < rows)[:, None] & (tl.arange(0, COLUMNS) < dim)[None, :]


@triton.jit
def keys_of(
    at, queries, keys, left, right, FEATURES: tl.constexpr, QUERIES: tl.constexpr, STEP: tl.constexpr
):
    """For QUERIES queries from `at` on: (begin, all_begin, all_end, end) of the keys that they see.

    Some query sees a key from begin to end; every query sees all keys from all_begin to all_end. All but the
    last are multiples of STEP.
    """
    shift = keys - queries
    begin, all_begin, all_end, end = 0, 0, keys, keys
    if FEATURES.right:
        end = min(keys, min(at + QUERIES, queries) + shift + right)
        all_end = min(keys, at + shift + right + 1)
    if FEATURES.left:
        begin = max(0, at + shift - left) // STEP * STEP
        all_begin = tl.cdiv(max(0, at + QUERIES - 1 + shift - left), STEP) * STEP
        all_begin = max(begin, min(all_begin, end // STEP * STEP))
    all_end = max(all_begin, max(all_end, 0) // STEP * STEP)
    return begin, all_begin, all_end, end


@triton.jit
def queries_of(
    at, queries, keys, left, right, FEATURES: tl.constexpr, KEYS: tl.constexpr, STEP: tl.constexpr
):
    """For KEYS keys from `at` on: (begin, all_begin, all_end, end) of the queries that see them."""
    shift = keys - queries
    begin, all_begin, all_end, end = 0, 0, queries, queries
    if FEATURES.right:
        begin = max(0, at - shift - right) // STEP * STEP
        all_begin = tl.cdiv(max(0, at + KEYS - 1 - shift - right), STEP) * STEP
    if FEATURES.left:
        end = min(queries, min(at + KEYS, keys) - shift + left)
        all_end = min(queries, at - shift + left + 1)
    if FEATURES.begins_masked:
        all_begin = tl.where(at + KEYS > keys, end, all_begin)  # keys that are not there are hidden from all
    all_begin = max(begin, min(all_begin, max(end, 0) // STEP * STEP))
    all_end = max(all_begin, max(all_end, 0) // STEP * STEP)
    return begin, all_begin, all_end, end
