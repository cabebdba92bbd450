"""What the first Triton rungs have in common: tiles of rows, and the scores of a tile."""

import triton
import triton.language as tl

LN2 = tl.constexpr(0.6931471805599453)
NEVER = tl.constexpr(float("-inf"))


@triton.jit
def of_head(x_ptr, batch, head, strides):
    """Where the rows of a head begin. Strides are those of batch, row and head."""
    return x_ptr + batch.to(tl.int64) * strides[0] + head.to(tl.int64) * strides[2]


@triton.jit
def load_rows(x_ptr, row, row_stride, rows, DIM: tl.constexpr, BLOCK: tl.constexpr):
    """(row, BLOCK): rows that are there, in DIM columns; the rest is 0 and adds nothing to a product."""
    column = tl.arange(0, BLOCK)
    at = x_ptr + row.to(tl.int64)[:, None] * row_stride + column[None, :]
    return tl.load(at, mask=(row < rows)[:, None] & (column < DIM)[None, :], other=0.0)


@triton.jit
def store_rows(x_ptr, tile, row, row_stride, rows, DIM: tl.constexpr, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    at = x_ptr + row.to(tl.int64)[:, None] * row_stride + column[None, :]
    inside = (row < rows)[:, None] & (column < DIM)[None, :]
    tl.store(at, tile.to(x_ptr.dtype.element_ty), mask=inside)


@triton.jit
def scores_of(q, k, scale, query, key, queries, keys, CAUSAL: tl.constexpr):
    """(query, key): scale · q kᵀ in float32, -inf where a query does not see a key or there is none."""
    seen = (key < keys)[None, :]
    if CAUSAL:  # the last query stands at the last key
        seen = seen & (key[None, :] <= query[:, None] + (keys - queries))
    return tl.where(seen, tl.dot(q, tl.trans(k)) * scale, NEVER)


@triton.jit
def keys_seen(last_query, queries, keys, CAUSAL: tl.constexpr):
    """How many keys, from the first on, a query and those before it see at most."""
    seen = keys
    if CAUSAL:
        seen = min(keys, max(0, last_query + 1 + keys - queries))
    return seen


@triton.jit
def finite_or_zero(m):
    """What exponentials are taken relative to. Where nothing is seen it is 0: e^(-inf - 0) is 0, not NaN."""
    return tl.where(m == NEVER, 0.0, m)
