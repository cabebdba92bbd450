"""out[r, :] = softmax(s[r, :]) v, in one pass over s and v: the inside of attention, once the scores are there.

A program for each row. s: (rows, keys), -inf where a key is masked; v: (keys, d); out: (rows, d); all fp16, d <= BLOCK_D.
"""

import triton
import triton.language as tl


@triton.jit
def attend_kernel(s_ptr, v_ptr, out_ptr, keys, d, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    m = float("-inf")
    l = 0.0
    o = tl.zeros((BLOCK_D,), tl.float32)
    for tile in range(0, keys, BLOCK):
        key = tile + tl.arange(0, BLOCK)  # (BLOCK)
        inside = key < keys
        s = tl.load(s_ptr + row * keys + key, mask=inside, other=float("-inf")).to(tl.float32)
        at = v_ptr + key[:, None] * d + column[None, :]  # (BLOCK, BLOCK_D)
        v = tl.load(at, mask=inside[:, None] & (column < d)[None, :], other=0.0).to(tl.float32)
        larger = tl.maximum(m, tl.max(s, 0))
        base = tl.where(larger == float("-inf"), 0.0, larger)
        alpha = tl.exp(m - base)
        p = tl.exp(s - base)
        l = l * alpha + tl.sum(p, 0)
        o = o * alpha + tl.sum(p[:, None] * v, 0)
        m = larger
    tl.store(out_ptr + row * d + column, (o / tl.where(l == 0.0, 1.0, l)).to(tl.float16), mask=column < d)
