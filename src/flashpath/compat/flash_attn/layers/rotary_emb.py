"""flash-attn's `apply_rotary_emb`, on the kernel of `rope`: differentiable, computed in float32."""

from typing import Any

import torch

from flashpath.compat.flash_attn.checking import require_given_tensors, require_layout
from flashpath.kernels.rope.reference import formula
from flashpath.ops.checking import SYMBOLS, refuse, require_tensors
from flashpath.ops.rope import turned

Tensor = torch.Tensor


_BY_KERNEL = (torch.float32, torch.float16, torch.bfloat16)


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
    _check(x, cos, sin, seqlen_offsets, cu_seqlens)
    del max_seqlen  # flash-attn's kernel needs it for its grid
    rows = _positions(x, seqlen_offsets, cu_seqlens)
    q = x if cu_seqlens is None else x.unsqueeze(0)
    rows = rows if cu_seqlens is None else rows.unsqueeze(0)
    if x.dtype in _BY_KERNEL and not (torch.is_grad_enabled() and (cos.requires_grad or sin.requires_grad)):
        result = turned(q, cos, sin, rows, bool(interleaved))
    else:  # also gradients of the angles
        result, _ = formula(q.float(), None, cos.float(), sin.float(), rows, 0, bool(interleaved))
    result = result.to(x.dtype).view(x.shape)
    return x.copy_(result) if inplace else result


def _check(x: Tensor, cos: Tensor, sin: Tensor, offsets: int | Tensor, cu_seqlens: Tensor | None) -> None:
    """Types and shapes; numbers in tensors on the CPU only."""
    name = "apply_rotary_emb"
    require_layout(name, 4 if cu_seqlens is None else 3, x=x)
    require_layout(name, 2, "(positions, pairs)", cos=cos, sin=sin)
    require_given_tensors(name, cu_seqlens=cu_seqlens)
    if cos.shape != sin.shape or 2 * cos.shape[1] > x.shape[-1]:
        refuse(
            "compat.rotary-shapes",
            name=name,
            shape=str(tuple(cos.shape)),
            shape2=str(tuple(sin.shape)),
            shape3=str(tuple(x.shape)),
            shape4=x.shape[-1] // 2,
        )
    if any(each.device != x.device for each in (cos, sin)):
        refuse(
            "compat.rotary-devices",
            name=name,
            device=str(x.device),
            device2=str(cos.device),
            device3=str(sin.device),
        )
    looks = not x.is_cuda and not torch.compiler.is_compiling()
    if cu_seqlens is not None:
        if cu_seqlens.dim() != 1 or not cu_seqlens.numel() or cu_seqlens.is_floating_point():
            refuse(
                "compat.rotary-bounds",
                name=name,
                shape=str(tuple(cu_seqlens.shape)),
                dtype=str(cu_seqlens.dtype),
            )
        given: Any = cu_seqlens
        bounds: list[int] = given.tolist() if looks else []
        if looks and (bounds[0] != 0 or bounds[-1] != x.shape[0] or bounds != sorted(bounds)):
            refuse("compat.rotary-falls", name=name, bounds=f"{bounds!r:.80}", shape=x.shape[0])
    if isinstance(offsets, Tensor):
        require_tensors(name, seqlen_offsets=offsets)
        sequences = x.shape[0] if cu_seqlens is None else cu_seqlens.shape[0] - 1
        if tuple(offsets.shape) != (sequences,) or offsets.is_floating_point():
            refuse(
                "compat.rotary-offsets",
                name=name,
                shape=str(tuple(offsets.shape)),
                dtype=str(offsets.dtype),
                sequences=sequences,
            )
        least = int(offsets.min()) if looks and offsets.numel() else 0
    elif isinstance(offsets, SYMBOLS):
        least = 0
    elif isinstance(offsets, int) and not isinstance(offsets, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        least = offsets
    else:
        refuse("compat.rotary-no-offsets", name=name, offsets=f"{offsets!r:.80}")
    if least < 0:
        refuse("compat.rotary-negative", name=name, least=least)


def _positions(x: Tensor, offsets: int | Tensor, cu_seqlens: Tensor | None) -> Tensor:
    """(batch, sequence), or (tokens)."""
    if cu_seqlens is None:
        first = offsets if isinstance(offsets, int) else offsets[:, None]
        return torch.arange(x.shape[1], device=x.device)[None, :].expand(x.shape[0], -1) + first
    token = torch.arange(x.shape[0], device=x.device)
    sequence = torch.searchsorted(cu_seqlens[1:].contiguous(), token, right=True)
    first = offsets if isinstance(offsets, int) else offsets[sequence]
    return token - cu_seqlens[sequence] + first
