"""The fields, one by one."""

import numpy as np


def reference(d, queries, keys, heads, kv_heads, causal, left, right, scale, softcap, dropout):
    left, right = int(left), int(right)
    if left >= keys:
        left = -1
    if right >= keys:
        right = -1
    if causal and queries > 1:
        right = 0
    is_causal = left == -1 and right == 0
    unbounded = left == -1 and right == -1
    return {
        "d_rounded": next(each for each in (32, 64, 96, 128, 192, 256) if each >= d),
        "ratio": heads // kv_heads,
        "is_causal": int(is_causal),
        "window_left": left if unbounded or left >= 0 else keys,
        "window_right": right if unbounded or right >= 0 else keys,
        "cap": scale / softcap if softcap else 0.0,
        "scale_log2": (softcap or scale) / np.log(2.0),
        "kept_byte": np.floor((1 - dropout) * 255),
        "kept_factor": 1 / (1 - dropout),
    }
