"""KVCache: keys and values of past tokens, written in place."""

from __future__ import annotations

from typing import Any

import torch

from flashpath.errors import FlashpathError

Tensor = torch.Tensor


class KVCache:
    """Room for `capacity` tokens of each sequence: k and v are (batch, capacity, kv_heads, dim).

    `lengths`, int32, (batch), says on the GPU how many tokens each sequence has; `longest` is the most of
    them, known to the host, so that nothing waits to learn it. A layer has its own.
    """

    def __init__(
        self,
        batch: int,
        capacity: int,
        kv_heads: int,
        head_dim: int,
        device: Any = None,
        dtype: torch.dtype = torch.bfloat16,
    ) -> None:
        shape = batch, capacity, kv_heads, head_dim
        self.k = torch.zeros(shape, dtype=dtype, device=device)
        self.v = torch.zeros(shape, dtype=dtype, device=device)
        self.lengths = torch.zeros(batch, dtype=torch.int32, device=device)
        self.longest = 0

    @property
    def capacity(self) -> int:
        return self.k.shape[1]

    def require_room(self, batch: int, tokens: int) -> None:
        """Refuses a step that the cache has no room for."""
        if batch != self.k.shape[0]:
            raise FlashpathError("nn.cache-batch", batch=batch, rows=self.k.shape[0])
        if self.longest + tokens > self.capacity:
            raise FlashpathError("nn.cache-full", tokens=tokens, longest=self.longest, capacity=self.capacity)

    def advance(self, tokens: int) -> None:
        """Counts tokens that were written."""
        self.lengths += tokens
        self.longest += tokens

    def reset(self) -> None:
        """Forgets all tokens; the memory stays."""
        self.lengths.zero_()
        self.longest = 0
