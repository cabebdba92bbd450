"""The longest sequence for which naive attention fits into a GPU's memory."""

import math


def longest(mib, batch, heads, dim, bytes_of_a_score):
    """The largest whole N for which everything fits into `mib` MiB (of 2^20 bytes); 0 where not even one token does.

    Q, K, V and O: (batch, N, heads, dim) each, 2 bytes an element. For each pair of tokens, in each head of each
    sequence, bytes_of_a_score bytes are alive at the worst moment: scores, weights and copies of them.
    """
    return math.isqrt(mib)  # TODO
