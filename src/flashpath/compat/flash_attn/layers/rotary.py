"""flash-attn's `apply_rotary_emb`, in torch: differentiable, computed in float32."""

import torch
import torch.nn.functional as F

Tensor = torch.Tensor


def apply_rotary_emb(
    x: Tensor,
    cos: Tensor,
    sin: Tensor,
    interleaved: bool = False,
    inplace: bool = False,
    seqlen_offsets: int | Tensor = 0,
    cu_seqlens: Tensor | None = None,
    max_seqlen: int | None = None,
) -> Tensor:
    """Turn the first 2 · pairs elements of every head by the angles of its position.

    x: (batch, sequence, heads, dim), or with cu_seqlens (tokens, heads, dim); cos, sin: (positions, pairs).
    Positions count within a sequence, from `seqlen_offsets` on: one number, or one for each sequence. At
    positions that cos and sin do not have, nothing turns.
    """
    del max_seqlen  # flash-attn's kernel needs it for its grid
    position = _positions(x, seqlen_offsets, cu_seqlens)
    positions, pairs = cos.shape
    row = position.clamp(max=positions)
    c, s = (
        F.pad(each.float(), (0, 0, 0, 1), value=beyond)[row].unsqueeze(-2)  # (…, 1, pairs)
        for each, beyond in ((cos, 1.0), (sin, 0.0))
    )
    turning, rest = x[..., : 2 * pairs].float(), x[..., 2 * pairs :]
    if interleaved:
        first, second = turning[..., 0::2], turning[..., 1::2]
        turned = torch.stack([first * c - second * s, first * s + second * c], -1).flatten(-2)
    else:
        first, second = turning.chunk(2, -1)
        turned = torch.cat([first * c - second * s, first * s + second * c], -1)
    result = torch.cat([turned.to(x.dtype), rest], -1)
    return x.copy_(result) if inplace else result


def _positions(x: Tensor, offsets: int | Tensor, cu_seqlens: Tensor | None) -> Tensor:
    """(batch, sequence), or (tokens)."""
    if cu_seqlens is None:
        first = offsets if isinstance(offsets, int) else offsets[:, None]
        return torch.arange(x.shape[1], device=x.device)[None, :].expand(x.shape[0], -1) + first
    token = torch.arange(x.shape[0], device=x.device)
    sequence = torch.searchsorted(cu_seqlens[1:].contiguous(), token, right=True)
    first = offsets if isinstance(offsets, int) else offsets[sequence]
    return token - cu_seqlens[sequence] + first
