"""Which weights dropout removes: a function of their place and of a seed, so that nothing has to be kept.

Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011) turns a
counter of 128 bits and a key of 64 into 128 random bits. Here the key is the seed, and for a weight of query
i and key j the counter is (j // 4, i, batch · heads + head, 0), of whose result it has word j % 4. It is
kept where the word, as an unsigned number, is at least p · 2^32. Backward asks for the same bits again.

This is the generator in torch's arithmetic, for the references: the kernels have it in theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

ROUNDS = 10
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_WORD = 0xFFFFFFFF


def threshold(p: float) -> int:
    """Words below it are dropped."""
    return int(p * 2**32)


def philox(counter: tuple[Tensor, Tensor, Tensor, Tensor], seed: int) -> list[Tensor]:
    """Four words of 32 bits, in int64 tensors, for each counter of four such words."""
    c0, c1, c2, c3 = counter
    k0, k1 = seed & _WORD, (seed >> 32) & _WORD
    for _ in range(ROUNDS):
        high0, low0 = _product(c0, MULTIPLIERS[0])
        high1, low1 = _product(c2, MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = (k0 + KEY_STEPS[0]) & _WORD, (k1 + KEY_STEPS[1]) & _WORD
    return [c0, c1, c2, c3]


def _product(a: Tensor, b: int) -> tuple[Tensor, Tensor]:
    """The upper and the lower word of a product of two words: int64 has no room for all of it."""
    low, high = a * (b & 0xFFFF), a * (b >> 16)
    middle = high + (low >> 16)
    return middle >> 16, ((middle << 16) | (low & 0xFFFF)) & _WORD


def _broadcast(*tensors: Tensor) -> list[Tensor]:
    import torch

    broadcasting: Any = torch
    return broadcasting.broadcast_tensors(*tensors)


def kept(seed: Any, p: float, of_head: Tensor, query: Tensor, key: Tensor) -> Tensor:
    """Whether a weight stays; the three integer tensors broadcast. `of_head` is batch · heads + head."""
    import torch

    of_head, query, key = _broadcast(of_head, query, key)
    words = philox((key // 4, query, of_head, torch.zeros_like(key)), int(seed))
    word = torch.stack(words, -1).gather(-1, (key % 4).unsqueeze(-1)).squeeze(-1)
    return word >= threshold(p)


def kept_rows(seed: Any, p: float, of_head: Tensor, query: Tensor, keys: int) -> Tensor:
    """Whether the weights of keys 0 to `keys` stay: (…, keys) of (…, 1). Each call of Philox serves four."""
    import torch

    four = torch.arange(-(-keys // 4), device=query.device)
    of_head, query, four = _broadcast(of_head, query, four)
    words = philox((four, query, of_head, torch.zeros_like(four)), int(seed))
    return (torch.stack(words, -1) >= threshold(p)).flatten(-2)[..., :keys]
