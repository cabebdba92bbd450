"""Weights of attention in a window: row r sees the keys start[r] <= key < stop[r], in tiles of BLOCK keys.

A program for each row. s, out: (rows, keys); out is 0 where nothing is seen.
"""

import triton
import triton.language as tl


@triton.jit
def window_weights_kernel(s_ptr, start_ptr, stop_ptr, out_ptr, keys, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    first, last = tl.load(start_ptr + row), tl.load(stop_ptr + row)
    m = -10000.0
    l = 0.0
    for tile in range(0, keys, BLOCK):
        key = tile + tl.arange(0, BLOCK)  # (BLOCK)
        seen = (key >= first) & (key < last)
        s = tl.load(s_ptr + row * keys + key, mask=seen)
        s = tl.where(seen, s, -10000.0)
        larger = tl.maximum(m, tl.max(s, 0))
        l = l * tl.exp(m - larger) + tl.sum(tl.exp(s - larger), 0)
        m = larger
    for tile in range(0, keys, BLOCK):
        key = tile + tl.arange(0, BLOCK)
        seen = (key >= first) & (key < last)
        s = tl.load(s_ptr + row * keys + key, mask=seen)
        s = tl.where(seen, s, -10000.0)
        p = tl.exp(s - m)
        tl.store(out_ptr + row * keys + key, p / l, mask=key < keys)
