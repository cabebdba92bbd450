"""Memory of `fp.attention` on a GPU: it grows with the length, not with its square, and torch's is no less.

Counted is what a call allocates beyond what lies in memory before it, at its peak, by torch's allocator: the
result and what autograd keeps of the forward direction; the gradients and all scratch of the backward one.
q, k, v and the gradient that comes in lie there before. torch's FlashAttention 2 is flash-attn's.
"""

# pyright: basic, reportArgumentType=false

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import pytest
import torch

import flashpath as fp

HEADS = 8
# Rows of scratch are filled up to whole tiles, and torch's allocator gives 512 bytes at least.
SMALL = 2**20

pytestmark = pytest.mark.gpu


def by_torch(q: Any, k: Any, v: Any, causal: bool) -> Any:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    heads_first = [each.transpose(1, 2) for each in (q, k, v)]
    attend: Any = torch.nn.functional.scaled_dot_product_attention
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return attend(*heads_first, is_causal=causal).transpose(1, 2)


def peak(call: Callable[[], Any]) -> tuple[int, Any]:
    gc.collect()  # what compilers left of a first call would be given back inside of it
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    result = call()
    torch.cuda.synchronize()
    return torch.cuda.max_memory_allocated() - before, result


def peaks(function: Callable[..., Any], length: int, dim: int) -> tuple[int, int]:
    """Of both directions; what is compiled or planned on a first call is not in it."""
    shape = (1, length, HEADS, dim)
    q, k, v = (torch.randn(shape, device="cuda").bfloat16().requires_grad_() for _ in range(3))
    dout = torch.randn(shape, device="cuda").bfloat16()
    torch.autograd.grad(function(q, k, v), (q, k, v), dout)
    forward, out = peak(lambda: function(q, k, v))
    backward, _ = peak(lambda: torch.autograd.grad(out, (q, k, v), dout))
    return forward, backward


@pytest.mark.parametrize("backend", [None, "triton", "cuda"])
@pytest.mark.parametrize("dim", [64, 128])
@pytest.mark.parametrize("causal", [True, False])
def test_memory_grows_with_the_length_and_is_no_more_than_torchs(
    backend: str | None, dim: int, causal: bool
) -> None:
    ours, torchs = (
        {n: peaks(function, n, dim) for n in (2048, 4096, 8192)}
        for function in (
            lambda q, k, v: fp.attention(q, k, v, causal=causal, backend=backend),
            lambda q, k, v: by_torch(q, k, v, causal),
        )
    )
    for way in (0, 1):
        for n, found in ours.items():
            assert found[way] <= torchs[n][way] + SMALL, ("forward", "backward")[way]
        for n in (2048, 4096):
            assert ours[2 * n][way] <= 2 * ours[n][way] + SMALL
    # Out, and 4 bytes of lse for each row: not one tensor more.
    for n, found in ours.items():
        assert found[0] <= n * HEADS * (2 * dim + 4) + SMALL
