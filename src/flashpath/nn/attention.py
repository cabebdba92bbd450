"""Attention: projections, rotary embedding, grouped heads and a cache, by the names of checkpoints."""

from __future__ import annotations

from typing import Any

import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.nn.cache import KVCache
from flashpath.nn.calling import HALVES, without_autocast
from flashpath.nn.norms import RMSNorm
from flashpath.nn.rotary import Rotary

Tensor = torch.Tensor
_attention = without_autocast(ops.attention)
_decode = without_autocast(ops.attention_decode)
_rope = without_autocast(ops.rope)
_torch: Any = torch
PAIRS_TOGETHER = 8  # the kernels of decoding rotate pairs in multiples of so many


class Attention(torch.nn.Module):
    """Self-attention of (batch, sequence, hidden): the module of Llama, Qwen, Mistral and Gemma.

    Parameters are q_proj, k_proj, v_proj and o_proj, and with `qk_norm`, an epsilon, q_norm and k_norm, as
    Qwen 3 and Gemma 3 have them. `kv_heads` fewer than `heads` are shared (GQA). `rotary` turns q and k; it
    may be shared by layers. `window` is how many tokens a query sees, itself included. Attention takes
    float16 and bfloat16; of float32 input, autocast or `backend="reference"`.
    """

    def __init__(
        self,
        hidden_size: int,
        heads: int,
        kv_heads: int | None = None,
        head_dim: int | None = None,
        *,
        rotary: Rotary | None = None,
        causal: bool = True,
        window: int | None = None,
        softcap: float = 0.0,
        scale: float | None = None,
        bias: bool = False,
        out_bias: bool | None = None,
        qk_norm: float | None = None,
        qk_norm_offset: float = 0.0,
        backend: Any = None,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        kv_heads = heads if kv_heads is None else kv_heads
        if heads <= 0 or kv_heads <= 0 or heads % kv_heads or (head_dim is None and hidden_size % heads):
            raise FlashpathError("nn.attention-heads", hidden=hidden_size, heads=heads, kv_heads=kv_heads)
        head_dim = hidden_size // heads if head_dim is None else head_dim
        self.heads, self.kv_heads, self.head_dim = heads, kv_heads, head_dim
        self.causal, self.window, self.softcap, self.scale = causal, window, softcap, scale
        self.backend = backend
        given: dict[str, Any] = {"device": device, "dtype": dtype}
        out_bias = bias if out_bias is None else out_bias
        self.q_proj = torch.nn.Linear(hidden_size, heads * head_dim, bias, **given)
        self.k_proj = torch.nn.Linear(hidden_size, kv_heads * head_dim, bias, **given)
        self.v_proj = torch.nn.Linear(hidden_size, kv_heads * head_dim, bias, **given)
        self.o_proj = torch.nn.Linear(heads * head_dim, hidden_size, out_bias, **given)
        self.q_norm = self.k_norm = None
        if qk_norm is not None:
            self.q_norm = RMSNorm(head_dim, qk_norm, weight_offset=qk_norm_offset, **given)
            self.k_norm = RMSNorm(head_dim, qk_norm, weight_offset=qk_norm_offset, **given)
        self.rotary = rotary

    def cache(self, batch: int, capacity: int, dtype: torch.dtype | None = None) -> KVCache:
        """Room for the keys and values of this layer, on the device of its weights."""
        weight = self.k_proj.weight
        kind = weight.dtype if dtype is None else dtype
        return KVCache(batch, capacity, self.kv_heads, self.head_dim, weight.device, kind)

    def forward(self, x: Tensor, cache: KVCache | None = None, positions: Tensor | None = None) -> Tensor:
        """x: (batch, sequence, hidden). With a cache, x follows what is in it, without gradients.

        `positions`, (sequence) or (batch, sequence), are for the rotary embedding without a cache.
        """
        batch, tokens = x.shape[:2]
        q = self.q_proj(x).view(batch, tokens, self.heads, self.head_dim)
        k = self.k_proj(x).view(batch, tokens, self.kv_heads, self.head_dim)
        v = self.v_proj(x).view(batch, tokens, self.kv_heads, self.head_dim)
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        if cache is None:
            if self.rotary is not None:
                q, k = self.rotary(q, k, positions)
            out = self._attend(q, k, v)
        else:
            out = self._step(q, k, v, cache, positions)
        return self.o_proj(out.reshape(batch, tokens, self.heads * self.head_dim))

    def _options(self) -> dict[str, Any]:
        window = None
        if self.window is not None:
            window = (self.window - 1, 0 if self.causal else self.window - 1)
        options = {"causal": self.causal, "window": window, "softcap": self.softcap, "scale": self.scale}
        return options if self.backend is None else {**options, "backend": self.backend}

    def _attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        device = q.device.type
        if _torch.is_autocast_enabled(device) and self.backend != "reference":
            kind = _torch.get_autocast_dtype(device)
            q, k, v = q.to(kind), k.to(kind), v.to(kind)
        return _attention(q, k, v, **self._options())

    def _step(self, q: Tensor, k: Tensor, v: Tensor, cache: KVCache, positions: Tensor | None) -> Tensor:
        """Rotation, the writing into the cache and the attention are one operator where dimensions allow."""
        if positions is not None or not self.causal:
            raise FlashpathError("nn.cache-order")
        batch, tokens = q.shape[:2]
        cache.require_room(batch, tokens)
        kind = cache.k.dtype
        if kind not in HALVES:
            raise FlashpathError("nn.cache-type", dtype=str(kind))
        q = q.to(kind)
        angles: dict[str, Any] = {}
        if self.rotary is not None:
            cos, sin = self.rotary.tables(cache.capacity, q)
            interleaved = self.rotary.interleaved
            if cos.shape[1] % PAIRS_TOGETHER:  # then rotation is a launch of its own
                q, k = _rope(q, k.to(kind), cos, sin, offsets=cache.lengths, interleaved=interleaved)
            else:
                angles = {"rotary_cos": cos, "rotary_sin": sin, "rotary_interleaved": interleaved}
        out = _decode(
            *(q, cache.k, cache.v),
            cache_seqlens=cache.lengths,
            k=k.to(kind),
            v=v.to(kind),
            **angles,
            **self._options(),
        )
        cache.advance(tokens)
        return out

    def extra_repr(self) -> str:
        return f"heads={self.heads}, kv_heads={self.kv_heads}, head_dim={self.head_dim}, causal={self.causal}"
