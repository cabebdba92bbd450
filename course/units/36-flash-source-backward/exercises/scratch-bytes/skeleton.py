"""The bytes that flash-attention's backward allocates beside dQ, dK and dV."""


def scratch(batch, queries, keys, heads, kv_heads, d, multiprocessors, deterministic):
    """Returns the bytes of softmax_d, of dq_accum, and of dk_expanded and dv_expanded together."""
    rounded = -(-queries // 128) * 128
    softmax_d = 4 * batch * heads * rounded
    dq_accum = 0  # TODO: how many columns, and how many splits?
    expanded = 0  # TODO: only for grouped heads
    return softmax_d, dq_accum, expanded
