"""FlopCounterMode counts of our operators what it counts of torch's own."""

# pyright: basic, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode
from torch.utils.flop_counter import FlopCounterMode

import flashpath as fp
from flashpath import ops

F: Any = torch.nn.functional
MATHS = torch.nn.attention.SDPBackend.MATH  # its products are those of the formula


def counted(call: Callable[[], Any]) -> int:
    with FlopCounterMode(display=False) as counter:
        call()
    return counter.get_total_flops()


def stepped(function: Callable[..., Any], *tensors: Any) -> Callable[[], Any]:
    """Forward and backward."""
    leaves = [each.clone().requires_grad_() for each in tensors]
    return lambda: function(*leaves).sum().backward()


X, WEIGHT, BIAS = torch.randn(2, 6, 8), torch.randn(5, 8), torch.randn(5)
PAIRS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {
    "matmul": (ops.matmul, torch.matmul, (X[0], WEIGHT.t())),
    "many products": (ops.matmul, torch.matmul, (X, X.mT)),
    "a batch and a matrix": (ops.matmul, torch.matmul, (X, WEIGHT.t())),
    "linear": (ops.linear, F.linear, (X, WEIGHT, BIAS)),
}


@pytest.mark.parametrize("name", PAIRS)
def test_products_are_counted_as_torchs(name: str) -> None:
    ours, theirs, tensors = PAIRS[name]
    assert counted(lambda: ours(*tensors)) == counted(lambda: theirs(*tensors)) > 0
    assert counted(stepped(ours, *tensors)) == counted(stepped(theirs, *tensors))


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_is_counted_as_torchs(is_causal: bool) -> None:
    q, k, v = (torch.randn(2, 4, n, 16).bfloat16() for n in (24, 40, 40))

    def of_torch() -> None:
        with torch.nn.attention.sdpa_kernel(MATHS):
            F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    forward = counted(lambda: fp.scaled_dot_product_attention(q, k, v))
    assert forward == counted(of_torch) == 2 * 2 * 4 * 24 * 40 * 32
    both = counted(stepped(lambda *qkv: fp.scaled_dot_product_attention(*qkv), q, k, v))
    assert both == forward * 7 // 2


def test_sequences_are_counted_by_their_lengths() -> None:
    x = torch.randn(10, 2, 16).bfloat16()
    bounds = torch.tensor([0, 3, 10], dtype=torch.int32)
    counts = counted(lambda: ops.attention_varlen(x, x, x, bounds, bounds, 7, 7))
    assert counts == 2 * 2 * (3 * 3 + 7 * 7) * 32


@pytest.mark.parametrize("in_pages", [False, True])
def test_a_step_of_decoding_is_counted_by_the_keys_there_are(in_pages: bool) -> None:
    q, new = torch.randn(2, 1, 4, 16).bfloat16(), torch.randn(2, 1, 2, 16).bfloat16()
    shape = (8, 16, 2, 16) if in_pages else (2, 64, 2, 16)
    k, v = (torch.randn(shape).bfloat16() for _ in "kv")
    table = torch.arange(8, dtype=torch.int32).view(2, 4) if in_pages else None
    lengths = torch.tensor([5, 40], dtype=torch.int32)
    for more, keys in (({}, 45), ({"k": new, "v": new}, 47)):
        options: dict[str, Any] = {"cache_seqlens": lengths.clone(), "page_table": table, **more}
        assert counted(lambda o=options: fp.attention_decode(q, k, v, **o)) == 2 * 4 * keys * 32


def test_spmv() -> None:
    rows = torch.tensor([0, 2, 3], dtype=torch.int32)
    columns = torch.tensor([0, 1, 1], dtype=torch.int32)
    assert counted(lambda: ops.spmv(rows, columns, torch.ones(3), torch.ones(2))) == 6


def test_without_memory_the_longest_counts() -> None:
    with FakeTensorMode():
        x = torch.empty(10, 2, 16, dtype=torch.bfloat16, device="cuda")
        bounds = torch.empty(3, dtype=torch.int32, device="cuda")
        counts = counted(lambda: ops.attention_varlen(x, x, x, bounds, bounds, 7, 7))
    assert counts == 2 * 2 * 2 * 7 * 7 * 32


def test_what_does_not_multiply_is_not_counted() -> None:
    assert counted(lambda: ops.softmax(ops.rms_norm(X))) == 0
