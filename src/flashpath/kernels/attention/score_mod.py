"""Functions of one's own between the scores and the softmax: a bias, a mask, a soft limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ScoreMod:
    """score → another score, given in each language that is to run it; -inf hides a key from a query.

    Every form takes (score, batch, head, query, key): the scaled score, after softcap and ALiBi, and where it
    stands; `head` counts the heads of q, `query` and `key` count within their sequence. `torch` gets a float
    tensor and integer tensors that broadcast with it; `triton` is a `@triton.jit` function of tiles; `cuda`
    is a C++ expression of one `float score` and four `int`.

    Gradients go through the derivative of the new score by the old one. Without one it is 1, which is right
    for whatever only adds to a score or hides it.
    """

    name: str
    torch: Callable[..., Any]
    triton: Any | None = None
    cuda: str | None = None
    triton_derivative: Any | None = None
    cuda_derivative: str | None = None
    torch_derivative: Callable[..., Any] | None = None
