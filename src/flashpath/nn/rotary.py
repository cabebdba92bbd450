"""Rotary: the angles of rotary embedding as tables that grow, and q and k turned by them in one launch."""

from __future__ import annotations

from typing import Any

import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.nn.calling import without_autocast

Tensor = torch.Tensor
_rope = without_autocast(ops.rope)
FIRST_POSITIONS = 2048


class Rotary(torch.nn.Module):
    """q and k turned by the angles of their positions; the first `dim` elements of each head turn.

    `base` is what configurations call rope_theta. Frequencies of another rule (long contexts) are given as
    `inv_freq`, (dim / 2), and `scaling` multiplies cos and sin. `interleaved` pairs are (x[2 i], x[2 i + 1]),
    else (x[i], x[i + dim / 2]). It has no parameters; tables of cos and sin are made when first needed, in
    the type of q, for at least `max_positions`, and made again for more.
    """

    inv_freq: Tensor

    def __init__(
        self,
        dim: int,
        base: float = 10000.0,
        max_positions: int = FIRST_POSITIONS,
        *,
        interleaved: bool = False,
        scaling: float = 1.0,
        inv_freq: Tensor | None = None,
        device: Any = None,
    ) -> None:
        super().__init__()
        if dim <= 0 or dim % 2:
            raise FlashpathError("nn.rotary-dim", dim=dim)
        if inv_freq is None:
            inv_freq = base ** (-torch.arange(0, dim, 2, dtype=torch.float32, device=device) / dim)
        elif tuple(inv_freq.shape) != (dim // 2,):
            raise FlashpathError("nn.rotary-frequencies", shape=str(tuple(inv_freq.shape)), pairs=dim // 2)
        self.dim, self.base, self.interleaved, self.scaling = dim, base, interleaved, scaling
        self.max_positions = max_positions
        self.register_buffer("inv_freq", inv_freq.detach().float(), persistent=False)
        self._tables: dict[tuple[torch.dtype, torch.device], tuple[Tensor, Tensor]] = {}

    def tables(self, positions: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """cos and sin, (at least that many positions, pairs), of the type and on the device of `like`."""
        key = like.dtype, like.device
        kept = self._tables.get(key)
        if kept is None or kept[0].shape[0] < positions:
            room = max(self.max_positions, 1 << max(0, positions - 1).bit_length())
            kept = self._made(room, like)
            if not torch.compiler.is_compiling():
                self._tables[key] = kept
        return kept

    @torch.no_grad()
    def _made(self, positions: int, like: Tensor) -> tuple[Tensor, Tensor]:
        """Angles are products of float32, as models were trained with."""
        steps = torch.arange(positions, dtype=torch.float32, device=like.device)
        angles = torch.outer(steps, self.inv_freq.to(like.device))
        return (angles.cos() * self.scaling).to(like.dtype), (angles.sin() * self.scaling).to(like.dtype)

    def forward(
        self, q: Tensor, k: Tensor, positions: Tensor | None = None, offset: int = 0
    ) -> tuple[Tensor, Tensor]:
        """q, k: (batch, sequence, heads, dim); positions: (sequence) or (batch, sequence), or counted.

        `positions` are numbers that the tables must have rows for: the largest is below `max_positions`.
        """
        if positions is None:
            cos, sin = self.tables(offset + q.shape[1], q)
            return _rope(q, k, cos, sin, offsets=offset, interleaved=self.interleaved)
        cos, sin = self.tables(self.max_positions, q)
        return _rope(q, k, cos, sin, positions=positions, interleaved=self.interleaved)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_tables": {}}  # made again where they are needed

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Moves the frequencies; they stay float32, whatever type a model is cast to."""
        inv_freq = self.inv_freq
        result = super()._apply(fn, recurse)  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
        if self.inv_freq.dtype != torch.float32:
            self.inv_freq = inv_freq.to(self.inv_freq.device)
        self._tables = {}
        return result

    def extra_repr(self) -> str:
        return f"{self.dim}, base={self.base}, interleaved={self.interleaved}"
