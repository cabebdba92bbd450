"""Scores of one new token with all keys of its sequence, for every query head: a step of decoding, before the softmax.

q: (batch, heads, DIM), k: (batch, keys, kv_heads, DIM), fp16; s: (batch, heads, keys), fp32: scale times the product of
a query head with each key of the key head that it uses. heads = kv_heads * group; neighbouring query heads share a key
head. Program (x, y): key head x % kv_heads of sequence x // kv_heads, keys y * BLOCK to y * BLOCK + BLOCK - 1.
"""

import triton
import triton.language as tl


@triton.jit
def group_scores_kernel(
    q_ptr, k_ptr, s_ptr, keys, kv_heads, group, scale, DIM: tl.constexpr, GROUP: tl.constexpr, BLOCK: tl.constexpr
):
    batch = tl.program_id(0) // kv_heads
    kv_head = tl.program_id(0) % kv_heads
    c = tl.arange(0, DIM)  # (DIM)
    key = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)  # (BLOCK)
    member = tl.arange(0, GROUP)  # (GROUP), of which the first `group` are there
    head = (batch * kv_heads + kv_head) * group + member  # counted over all sequences

    in_group = member < group
    k_row = (batch * keys + key) * kv_heads + kv_head  # (BLOCK): rows of DIM elements
    k = tl.load(k_ptr + k_row[:, None] * DIM + c[None, :], mask=key[:, None] < keys, other=0.0)
    q = tl.load(q_ptr + head[:, None] * DIM + c[None, :], mask=in_group[:, None], other=0.0)
    products = q[:, None, :].to(tl.float32) * k[None, :, :].to(tl.float32)  # (GROUP, BLOCK, DIM)
    s = scale * tl.sum(products, 2)  # (GROUP, BLOCK)
    there = in_group[:, None] & (key[None, :] < keys)
    tl.store(s_ptr + head[:, None] * keys + key[None, :], s, mask=there)
