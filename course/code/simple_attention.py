"""Attention twice: as the formula has it, and block by block with the online softmax.

    python simple_attention.py

Both must give the same. Change the block size, take the rescaling by alpha away, and see what happens.
"""

import math

import torch


def attention(q, k, v, causal=False):
    """softmax(q kᵀ / √d) v; the scores are a matrix of (N, N) numbers."""
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (H, N, N)
    if causal:
        n = q.shape[-2]
        hidden = torch.ones(n, n, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, dim=-1) @ v  # (H, N, D)


def attention_by_blocks(q, k, v, causal=False, block=32):
    """The same, with no more than `block` columns of scores at a time."""
    n, d = q.shape[-2:]
    m = torch.full((*q.shape[:-1], 1), -math.inf, dtype=q.dtype)  # the largest score so far
    l = torch.zeros_like(m)  # noqa: E741, the paper's letter: the sum of exp so far
    o = torch.zeros_like(q)  # the output so far, not yet divided by l
    rows = torch.arange(n)[:, None]
    for start in range(0, n, block):
        k_block, v_block = k[..., start : start + block, :], v[..., start : start + block, :]
        s = q @ k_block.transpose(-2, -1) / math.sqrt(d)  # (H, N, block)
        if causal:
            columns = torch.arange(start, min(start + block, n))[None, :]
            s = s.masked_fill(columns > rows, -math.inf)
        m_new = torch.maximum(m, s.amax(dim=-1, keepdim=True))
        alpha = torch.exp(m - m_new)
        p = torch.exp(s - m_new)
        l = alpha * l + p.sum(dim=-1, keepdim=True)  # noqa: E741
        o = alpha * o + p @ v_block
        m = m_new
    return o / l


def main():
    torch.manual_seed(0)
    for n in (1, 31, 128, 200):
        for causal in (False, True):
            q, k, v = (torch.randn(2, n, 16, dtype=torch.float64) for _ in range(3))
            expected = attention(q, k, v, causal)
            got = attention_by_blocks(q, k, v, causal)
            error = (got - expected).abs().max().item()
            print(f"N = {n:>3}, causal = {causal!s:<5}  largest difference 最大差异: {error:.1e}")
            if error > 1e-12:
                raise SystemExit("The two differ: look at the update.  两者不一致：检查更新公式。")
    n, block = 4096, 32
    print(f"Scores alive at a time for N = {n}: {n * n:,} numbers, by blocks {n * block:,}.")
    print(f"N = {n} 时同时存在的分数：{n * n:,} 个，逐块则为 {n * block:,} 个。")


if __name__ == "__main__":
    main()
