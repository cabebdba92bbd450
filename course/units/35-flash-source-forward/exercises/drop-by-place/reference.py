"""Dropout by place: Philox with 7 rounds, a byte for each weight."""

import numpy as np

_WORD = np.uint64(0xFFFFFFFF)


def _philox(c0, c1, c2, seed):
    c0, c1, c2, c3 = (np.asarray(c, dtype=np.uint64) for c in np.broadcast_arrays(c0, c1, c2, 0))
    k0, k1 = int(seed) & 0xFFFFFFFF, 0
    for _ in range(7):
        first, second = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c1, c2, c3 = (
            (second >> np.uint64(32)) ^ c1 ^ np.uint64(k0),
            second & _WORD,
            (first >> np.uint64(32)) ^ c3 ^ np.uint64(k1),
            first & _WORD,
        )
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], -1)


def reference(p, factor, heads, queries, keys, swapped, seed, keep):
    key = np.arange(keys)
    words = _philox(key // 16, np.arange(queries)[:, None], np.arange(heads)[:, None, None], seed)
    word = np.take_along_axis(words, np.broadcast_to((key % 16 // 4)[:, None], (heads, queries, keys, 1)), -1)[..., 0]
    byte = word >> (key % 4 * 8).astype(np.uint64) & np.uint64(255)
    kept = (byte <= keep).swapaxes(1, 2) if swapped else byte <= keep
    return np.where(kept.reshape(p.shape), p * factor, 0.0)
