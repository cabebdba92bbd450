"""How long a causal forward pass keeps the SMs of a GPU busy, in steps of the inner loop."""


def steps(heads, tiles, sms):
    """Steps until everything is computed, for `heads` heads of `tiles` tiles of queries and as many of keys.

    An SM has one block at a time; as soon as it is free it takes the next one. Returns the steps of version 1, a block
    to a head; of version 2, a block to a tile of queries, with tile 0 of all heads first; and with the last tile of all
    heads first.
    """
    per_head = 0  # TODO
    short_first = 0
    long_first = 0
    return per_head, short_first, long_first
