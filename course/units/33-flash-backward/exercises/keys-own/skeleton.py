"""The first half of the backward pass: dK and dV. Causal: query i sees the keys 0 to i.

Program (t, head) owns the 32 keys from 32 t on: their dk and dv stay with it until all queries that see them have come by.
q, k, v, dout: (heads, n, d), fp16; lse, delta: (heads, n), float32, lse a natural logarithm. dk, dv: (heads, n, d),
float32. d <= BLOCK_D.
"""

import triton
import triton.language as tl


@triton.jit
def keys_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    dout_ptr,
    lse_ptr,
    delta_ptr,
    dk_ptr,
    dv_ptr,
    n,
    d,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    first_key = tl.program_id(0) * BLOCK_K
    head = tl.program_id(1)
    of_head = head * n * d
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    key = first_key + tl.arange(0, BLOCK_K)  # (BLOCK_K)
    k_at = of_head + key[:, None] * d + column[None, :]
    k_inside = (key < n)[:, None] & (column < d)[None, :]
    k = tl.load(k_ptr + k_at, mask=k_inside, other=0.0)
    v = tl.load(v_ptr + k_at, mask=k_inside, other=0.0)
    dk = tl.zeros((BLOCK_K, BLOCK_D), tl.float32)
    dv = tl.zeros((BLOCK_K, BLOCK_D), tl.float32)
    # TODO: which tiles of queries see one of these keys? As it is, all come by.
    for first_query in range(0, n, BLOCK_Q):
        query = first_query + tl.arange(0, BLOCK_Q)  # (BLOCK_Q)
        at = of_head + query[:, None] * d + column[None, :]
        inside = (query < n)[:, None] & (column < d)[None, :]
        q = tl.load(q_ptr + at, mask=inside, other=0.0)
        dout = tl.load(dout_ptr + at, mask=inside, other=0.0)
        lse = tl.load(lse_ptr + head * n + query, mask=query < n, other=0.0)
        delta = tl.load(delta_ptr + head * n + query, mask=query < n, other=0.0)
        # TODO: the weights of this pair of tiles, and what it adds to dv and dk
    tl.store(dk_ptr + k_at, dk, mask=k_inside)
    tl.store(dv_ptr + k_at, dv, mask=k_inside)
