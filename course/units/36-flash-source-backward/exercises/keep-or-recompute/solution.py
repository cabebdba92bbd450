"""The weights P of attention: kept for the backward pass, or computed again."""


def compare(batch, heads, n, d, block_n, bandwidth, peak):
    """Returns the bytes of P and of lse that wait for the backward pass, and the seconds that each way costs.

    P is kept in 16 bits, lse in float32. bandwidth: bytes a second; peak: FLOPs a second.
    """
    scores = batch * heads * n * n
    tiles = -(-n // block_n)
    kept = 2 * scores
    lse = 4 * batch * heads * n
    seconds_again = 2 * scores * d / peak + lse * tiles / bandwidth
    return kept, lse, 2 * kept / bandwidth, seconds_again
