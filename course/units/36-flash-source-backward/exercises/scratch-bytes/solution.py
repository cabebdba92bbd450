"""The bytes that flash-attention's backward allocates beside dQ, dK and dV."""


def scratch(batch, queries, keys, heads, kv_heads, d, multiprocessors, deterministic):
    """Returns the bytes of softmax_d, of dq_accum, and of dk_expanded and dv_expanded together."""
    rounded = -(-queries // 128) * 128
    unit = 32 if d <= 128 else 64
    padded = -(-d // unit) * unit
    splits = -(-multiprocessors // (batch * heads)) if deterministic else 1
    softmax_d = 4 * batch * heads * rounded
    dq_accum = 4 * splits * batch * rounded * heads * padded
    expanded = 0 if heads == kv_heads else 4 * batch * keys * heads * d
    return softmax_d, dq_accum, expanded
