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
        for first_query in tl.range(first_key // BLOCK_Q * BLOCK_Q, n, BLOCK_Q, num_stages=1):
            query = first_query + tl.arange(0, BLOCK_Q)
            inside = (query < n)[:, None] & (column < d)[None, :]
            q = tl.load(q_ptr + query[:, None] * d + column[None, :], mask=inside, other=0.0)
            o = tl.load(o_ptr + query[:, None] * d + column[None, :], mask=inside, other=0.0)
            m = tl.load(m_ptr + query, mask=query < n, other=float("-inf"))
            l = tl.load(l_ptr + query, mask=query < n, other=0.0)

            s = tl.dot(q, tl.trans(k)) * scale  # (BLOCK_Q, BLOCK_K)
            s = tl.where((key[None, :] <= query[:, None]) & (key < n)[None, :], s, float("-inf"))
            m_new = tl.maximum(m, tl.max(s, 1))
            before = l * tl.exp(m - m_new)  # what earlier tiles have of the new sum
            p = tl.exp(s - m_new[:, None])
            l_new = before + tl.sum(p, 1)
            o = (o * before[:, None] + tl.dot(p.to(tl.float16), v)) / l_new[:, None]

            tl.debug_barrier()  # all threads have loaded the state of these queries
            tl.store(o_ptr + query[:, None] * d + column[None, :], o, mask=inside)
            tl.store(m_ptr + query, m_new, mask=query < n)
            tl.store(l_ptr + query, l_new, mask=query < n)
