"""What mha_fwd and set_params_fprop make of the arguments of a call."""

import math


def parameters(d, queries, keys, heads, kv_heads, causal, left, right, scale, softcap, dropout):
    """Returns fields of Flash_fwd_params, in this order.

    d_rounded, h_h_k_ratio, is_causal (0 or 1), window_size_left, window_size_right, softcap, scale_softmax_log2,
    p_dropout_in_uint8_t, rp_dropout. There are no slopes; causal is 0 or 1; a softcap of 0 is none.
    """
    d_rounded = d  # TODO
    ratio = heads
    # TODO: mha_fwd: what binds nothing is unbounded; one query sees all keys.
    # TODO: set_params_fprop: causal, and the other side of a window with one bounded side.
    is_causal = causal
    cap = softcap  # TODO: what stands before the tanh, and what multiplies last
    last_factor = scale
    kept = 1 - dropout
    return d_rounded, ratio, is_causal, left, right, cap, last_factor * math.log2(math.e), 255, 1 / kept
