"""The weights P of attention: kept for the backward pass, or computed again."""


def compare(batch, heads, n, d, block_n, bandwidth, peak):
    """Returns the bytes of P and of lse that wait for the backward pass, and the seconds that each way costs.

    P is kept in 16 bits, lse in float32. bandwidth: bytes a second; peak: FLOPs a second.
    """
    scores = batch * heads * n * n
    kept = 0  # TODO: bytes
    lse = 0
    seconds_kept = 0.0  # TODO: written by forward, read by backward
    seconds_again = 0.0  # TODO: a product, and lse for each tile of keys
    return kept, lse, seconds_kept, seconds_again
