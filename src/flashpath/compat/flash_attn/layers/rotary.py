"""flash_attn.layers.rotary: rotary embedding of q and k, packed and not, on the kernel of `rope`.

The functions whose name ends in _ write where q and k are, as flash-attn's do; a leaf that requires a
gradient stays as it is, since autograd forbids to write there, and the result is a tensor of its own.
"""

from __future__ import annotations

from typing import Any

import torch

from flashpath.compat.flash_attn.layers.rotary_emb import apply_rotary_emb
from flashpath.ops.checking import refuse, require_tensors

__all__ = [
    "RotaryEmbedding",
    "apply_rotary_emb",
    "apply_rotary_emb_func",
    "apply_rotary_emb_kv_",
    "apply_rotary_emb_qkv_",
    "apply_rotary_emb_torch",
]

Tensor = torch.Tensor
apply_rotary_emb_func = apply_rotary_emb


def apply_rotary_emb_torch(x: Tensor, cos: Tensor, sin: Tensor, interleaved: bool = False) -> Tensor:
    """The formula by torch's functions, in x's type; cos and sin may be (batch, sequence, pairs) too."""
    pairs = cos.shape[-1]
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    head, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    first, second = (head[..., ::2], head[..., 1::2]) if interleaved else head.chunk(2, dim=-1)
    turned = first * cos - second * sin, second * cos + first * sin
    head = torch.stack(turned, -1).flatten(-2) if interleaved else torch.cat(turned, -1)
    return torch.cat((head, rest), -1)


def apply_rotary_emb_qkv_(
    qkv: Tensor,
    cos: Tensor,
    sin: Tensor,
    cos_k: Tensor | None = None,
    sin_k: Tensor | None = None,
    interleaved: bool = False,
    seqlen_offsets: int | Tensor = 0,
    num_heads_q: int | None = None,
) -> Tensor:
    """Turns q and k in place: (batch, sequence, 3, heads, dim), or (batch, sequence, all heads, dim)."""
    name = "apply_rotary_emb_qkv_"
    require_tensors(name, qkv=qkv)
    if qkv.dim() == 5 and qkv.shape[2] == 3:
        places = qkv[:, :, 0], qkv[:, :, 1]
    elif qkv.dim() == 4 and num_heads_q is not None and _has_heads(qkv.shape[2], num_heads_q):
        of_k = (qkv.shape[2] - num_heads_q) // 2
        places = qkv[:, :, :num_heads_q], qkv[:, :, num_heads_q : num_heads_q + of_k]
    else:
        refuse("compat.rotary-packed", name=name, shape=str(tuple(qkv.shape)), heads=f"{num_heads_q!r:.80}")
    q, k = places
    angles = (cos, sin), (cos if cos_k is None else cos_k, sin if sin_k is None else sin_k)
    turned = [
        apply_rotary_emb(x, *each, interleaved, seqlen_offsets=seqlen_offsets)
        for x, each in zip((q, k), angles, strict=True)
    ]
    if _can_be_written(qkv):
        q.copy_(turned[0])
        k.copy_(turned[1])
        return qkv
    if qkv.dim() == 5:
        return torch.stack((*turned, qkv[:, :, 2]), dim=2)
    return torch.cat((*turned, qkv[:, :, q.shape[2] + k.shape[2] :]), dim=2)


def apply_rotary_emb_kv_(
    kv: Tensor,
    cos: Tensor,
    sin: Tensor,
    interleaved: bool = False,
    seqlen_offsets: int | Tensor = 0,
) -> Tensor:
    """kv: (batch, sequence, 2, heads, dim): k turns in place."""
    name = "apply_rotary_emb_kv_"
    require_tensors(name, kv=kv)
    if kv.dim() != 5 or kv.shape[2] != 2:
        layout = "(batch, sequence, 2, heads, dim)"
        refuse("compat.packed-layout", name=name, key="kv", shape=str(tuple(kv.shape)), layout=layout)
    k = kv[:, :, 0]
    turned = apply_rotary_emb(k, cos, sin, interleaved, seqlen_offsets=seqlen_offsets)
    if _can_be_written(kv):
        k.copy_(turned)
        return kv
    return torch.stack((turned, kv[:, :, 1]), dim=2)


def _has_heads(all_heads: int, of_q: Any) -> bool:
    return isinstance(of_q, int) and 0 < of_q < all_heads and not (all_heads - of_q) % 2


def _can_be_written(x: Tensor) -> bool:
    return not (x.requires_grad and x.is_leaf and torch.is_grad_enabled())


class RotaryEmbedding(torch.nn.Module):
    """flash-attn's module: tables of angles that grow with the sequences, and q and k turned in place.

    With `scale_base` the angles of q grow and those of k shrink with the distance from the middle (xPos).
    """

    inv_freq: Tensor
    scale: Tensor | None

    def __init__(
        self,
        dim: int,
        base: float = 10000.0,
        interleaved: bool = False,
        scale_base: float | None = None,
        device: Any = None,
    ) -> None:
        super().__init__()
        self.dim, self.base, self.interleaved, self.scale_base = dim, float(base), interleaved, scale_base
        self.register_buffer("inv_freq", self._compute_inv_freq(device), persistent=False)
        scale = None if scale_base is None else self._compute_scale(device)
        self.register_buffer("scale", scale, persistent=False)
        self._seq_len_cached = 0
        self._cos_cached: Tensor | None = None
        self._sin_cached: Tensor | None = None
        self._cos_k_cached: Tensor | None = None
        self._sin_k_cached: Tensor | None = None

    def _compute_inv_freq(self, device: Any = None) -> Tensor:
        pairs = torch.arange(0, self.dim, 2, dtype=torch.float32, device=device)
        return 1.0 / self.base ** (pairs / self.dim)

    def _compute_scale(self, device: Any = None) -> Tensor:
        pairs = torch.arange(0, self.dim, 2, dtype=torch.float32, device=device)
        return (pairs + 0.4 * self.dim) / (1.4 * self.dim)

    def _update_cos_sin_cache(self, seqlen: int, device: Any = None, dtype: Any = None) -> None:
        """Makes the tables, where they are too short, or of another type or device; angles are float32."""
        kept = self._cos_cached
        is_stale = kept is None or kept.device != device or kept.dtype != dtype
        if not (is_stale or seqlen > self._seq_len_cached or (self.training and kept.is_inference())):  # pyright: ignore[reportOptionalMemberAccess]
            return
        self._seq_len_cached = seqlen
        positions = torch.arange(seqlen, dtype=torch.float32, device=device)
        # A model that was cast to bfloat16 has frequencies that lost digits.
        exact = self.inv_freq.dtype == torch.float32
        angles = torch.outer(positions, self.inv_freq.to(device) if exact else self._compute_inv_freq(device))
        cos, sin = angles.cos(), angles.sin()
        if self.scale_base is None:
            self._cos_cached, self._sin_cached = cos.to(dtype), sin.to(dtype)
            return
        power = (positions - seqlen // 2) / self.scale_base
        growth = self._compute_scale(device) ** power[:, None]
        self._cos_cached, self._sin_cached = (cos * growth).to(dtype), (sin * growth).to(dtype)
        self._cos_k_cached, self._sin_k_cached = (cos / growth).to(dtype), (sin / growth).to(dtype)

    def forward(
        self,
        qkv: Tensor,
        kv: Tensor | None = None,
        seqlen_offset: int | Tensor = 0,
        max_seqlen: int | None = None,
        num_heads_q: int | None = None,
    ) -> Tensor | tuple[Tensor, Tensor]:
        """qkv as in `apply_rotary_emb_qkv_`; with kv, (batch, sequence, 2, heads, dim), it is q alone."""
        if max_seqlen is not None:
            self._update_cos_sin_cache(max_seqlen, qkv.device, qkv.dtype)
        elif isinstance(seqlen_offset, int):
            self._update_cos_sin_cache(qkv.shape[1] + seqlen_offset, qkv.device, qkv.dtype)
        cos, sin, cos_k, sin_k = self._tables()
        if kv is None:
            return apply_rotary_emb_qkv_(
                qkv,
                cos,
                sin,
                cos_k,
                sin_k,
                interleaved=self.interleaved,
                seqlen_offsets=seqlen_offset,
                num_heads_q=num_heads_q,
            )
        writes = _can_be_written(qkv)
        q = apply_rotary_emb(qkv, cos, sin, self.interleaved, writes, seqlen_offset)
        k_angles = (cos if cos_k is None else cos_k), (sin if sin_k is None else sin_k)
        return q, apply_rotary_emb_kv_(kv, *k_angles, self.interleaved, seqlen_offset)

    def _tables(self) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        if self._cos_cached is None or self._sin_cached is None:
            refuse("compat.rotary-no-table")
        return self._cos_cached, self._sin_cached, self._cos_k_cached, self._sin_k_cached
