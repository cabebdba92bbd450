"""What attention costs: its FLOPs, the fewest bytes, and the bytes of its scores."""


def work(batch, queries, keys, heads, kv_heads, dim, causal):
    """Three whole numbers: flops, least_bytes, score_bytes.

    q and the output: (batch, queries, heads, dim), k and v: (batch, keys, kv_heads, dim), all of 2 bytes an element.
    flops: of both products, Q Kᵀ and P V, for the pairs of a query and a key that see each other; a multiply-add is 2.
    Where causal is 1, the last query stands at the last key: query i sees the keys 0 to i + keys - queries.
    least_bytes: q, k and v are each read once and the output is written once.
    score_bytes: of the whole matrix of scores of all heads and sequences, 2 bytes each, hidden ones too.
    """
    pairs = queries * keys
    if causal:
        pairs -= queries * (queries - 1) // 2
    flops = 4 * batch * heads * dim * pairs
    least_bytes = 2 * batch * dim * 2 * (heads * queries + kv_heads * keys)
    score_bytes = 2 * batch * heads * queries * keys
    return flops, least_bytes, score_bytes
