"""How long a causal forward pass keeps the SMs of a GPU busy, in steps of the inner loop."""


def finish(lengths, sms):
    """The step after which the last block has ended; blocks start in the order of `lengths`."""
    free = [0] * sms  # when each SM is free again
    for length in lengths:
        first = free.index(min(free))
        free[first] += length
    return max(free)


def steps(heads, tiles, sms):
    """Steps until everything is computed, for `heads` heads of `tiles` tiles of queries and as many of keys.

    An SM has one block at a time; as soon as it is free it takes the next one. Returns the steps of version 1, a block
    to a head; of version 2, a block to a tile of queries, with tile 0 of all heads first; and with the last tile of all
    heads first.
    """
    per_head = finish([tiles * (tiles + 1) // 2] * heads, sms)
    short_first = [tile + 1 for tile in range(tiles) for _ in range(heads)]
    return per_head, finish(short_first, sms), finish(short_first[::-1], sms)
