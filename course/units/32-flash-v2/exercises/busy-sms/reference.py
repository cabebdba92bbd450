"""Blocks in the order of their start, each on the SM that is free first; counted with a heap."""

import heapq


def _finish(lengths, sms):
    free = [0] * sms
    for length in lengths:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


def reference(heads, tiles, sms):
    of_version_2 = [tile + 1 for tile in range(tiles) for _ in range(heads)]
    return {
        "per_head": _finish([sum(range(tiles + 1))] * heads, sms),
        "short_first": _finish(of_version_2, sms),
        "long_first": _finish(of_version_2[::-1], sms),
    }
