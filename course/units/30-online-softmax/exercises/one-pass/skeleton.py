"""out[r, :] = softmax(s[r, :]) v, in one pass over s and v: the inside of attention, once the scores are there.

A program for each row. s: (rows, keys), -inf where a key is masked; v: (keys, d); out: (rows, d); all fp16, d <= BLOCK_D.
"""

import triton
import triton.language as tl


@triton.jit
def attend_kernel(s_ptr, v_ptr, out_ptr, keys, d, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK_D)  # (BLOCK_D)
    o = tl.zeros((BLOCK_D,), tl.float32)
    # TODO: what else lives from one tile to the next?
    for tile in range(0, keys, BLOCK):
        key = tile + tl.arange(0, BLOCK)  # (BLOCK)
        inside = key < keys
        s = tl.load(s_ptr + row * keys + key, mask=inside, other=float("-inf")).to(tl.float32)
        at = v_ptr + key[:, None] * d + column[None, :]  # (BLOCK, BLOCK_D)
        v = tl.load(at, mask=inside[:, None] & (column < d)[None, :], other=0.0).to(tl.float32)
        # TODO: absorb the tile. This adds up values without any weights.
        o += tl.sum(v, 0)
    tl.store(out_ptr + row * d + column, o.to(tl.float16), mask=column < d)
