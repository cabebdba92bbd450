"""FlashAttention 1, the forward pass of algorithm 1 with a causal mask: query i sees the keys 0 to i.

A program for each head. q, k, v: (heads, n, d), fp16. o: (heads, n, d), m, l: (heads, n), float32, in global memory: what
one step of the outer loop leaves for the next, and in the end the result. d <= BLOCK_D.
"""

import triton
import triton.language as tl


@triton.jit
def flash_kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    m_ptr,
    l_ptr,
    o_ptr,
    n,
    d,
    scale,
    BLOCK_Q: tl.constexpr,
    BLOCK_K: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    head = tl.program_id(0)
    q_ptr, k_ptr, v_ptr, o_ptr = (
        q_ptr + head * n * d,
        k_ptr + head * n * d,
        v_ptr + head * n * d,
        o_ptr + head * n * d,
    )
    m_ptr, l_ptr = m_ptr + head * n, l_ptr + head * n
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)

    for first_query in tl.range(0, n, BLOCK_Q, num_stages=1):
        query = first_query + tl.arange(0, BLOCK_Q)  # (BLOCK_Q)
        inside = (query < n)[:, None] & (column < d)[None, :]
        nothing = tl.zeros((BLOCK_Q,), tl.float32)
        tl.store(m_ptr + query, nothing + float("-inf"), mask=query < n)
        tl.store(l_ptr + query, nothing, mask=query < n)
        tl.store(
            o_ptr + query[:, None] * d + column[None, :],
            tl.zeros((BLOCK_Q, BLOCK_D), tl.float32),
            mask=inside,
        )

    for first_key in tl.range(0, n, BLOCK_K, num_stages=1):
        tl.debug_barrier()  # what the step before stored is there for all threads
        key = first_key + tl.arange(0, BLOCK_K)  # (BLOCK_K)
        k_inside = (key < n)[:, None] & (column < d)[None, :]
        k = tl.load(k_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
        v = tl.load(v_ptr + key[:, None] * d + column[None, :], mask=k_inside, other=0.0)
        # TODO: which tiles of queries see one of these keys? As it is, all pass by.
        for first_query in tl.range(0, n, BLOCK_Q, num_stages=1):
            query = first_query + tl.arange(0, BLOCK_Q)
            inside = (query < n)[:, None] & (column < d)[None, :]
            # TODO: load q, o, m and l of these queries; lines 9 to 12 of algorithm 1, with the causal mask.
            o = tl.zeros((BLOCK_Q, BLOCK_D), tl.float32)
            m_new = tl.zeros((BLOCK_Q,), tl.float32)
            l_new = tl.zeros((BLOCK_Q,), tl.float32)

            tl.debug_barrier()  # all threads have loaded the state of these queries
            tl.store(o_ptr + query[:, None] * d + column[None, :], o, mask=inside)
            tl.store(m_ptr + query, m_new, mask=query < n)
            tl.store(l_ptr + query, l_new, mask=query < n)
