"""What mha_fwd and set_params_fprop make of the arguments of a call."""

import math


def parameters(d, queries, keys, heads, kv_heads, causal, left, right, scale, softcap, dropout):
    """Returns fields of Flash_fwd_params, in this order.

    d_rounded, h_h_k_ratio, is_causal (0 or 1), window_size_left, window_size_right, softcap, scale_softmax_log2,
    p_dropout_in_uint8_t, rp_dropout. There are no slopes; causal is 0 or 1; a softcap of 0 is none.
    """
    step = 32 if d <= 128 else 64
    d_rounded = -(-d // step) * step
    ratio = heads // kv_heads
    # mha_fwd: what binds nothing is unbounded; one query sees all keys.
    left = -1 if left >= keys else left
    right = -1 if right >= keys else right
    causal = causal and queries != 1
    if causal:
        right = 0
    # set_params_fprop: causal has no left side; else a bounded side has a bounded other side.
    is_causal = int(left < 0 and right == 0)
    if left < 0 and right >= 0:
        left = keys
    if left >= 0 and right < 0:
        right = keys
    cap = scale / softcap if softcap > 0 else 0.0
    last_factor = softcap if softcap > 0 else scale
    kept = 1 - dropout
    return (
        d_rounded,
        ratio,
        is_causal,
        left,
        right,
        cap,
        last_factor * math.log2(math.e),
        math.floor(kept * 255),
        1 / kept,
    )
