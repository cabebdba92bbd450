"""flash-attn's interface: its signatures, its layouts, its meanings."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from flashpath.compat import flash_attn
from flashpath.compat.flash_attn.bert_padding import pad_input, unpad_input
from flashpath.compat.flash_attn.layers.rotary import apply_rotary_emb
from flashpath.kernels.attention.problem import Options, Sequences
from flashpath.kernels.attention.reference import formula

HALF = torch.float16
CLOSE: Any = {"rtol": 5e-3, "atol": 5e-3}
# As flash-attn 2.8 has them, in order.
COMMON = "dropout_p softmax_scale causal window_size softcap alibi_slopes deterministic return_attn_probs"
SIGNATURES = {
    "flash_attn_func": f"q k v {COMMON}",
    "flash_attn_qkvpacked_func": f"qkv {COMMON}",
    "flash_attn_kvpacked_func": f"q kv {COMMON}",
    "flash_attn_varlen_func": (
        f"q k v cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k {COMMON} block_table"
    ),
    "flash_attn_varlen_qkvpacked_func": f"qkv cu_seqlens max_seqlen {COMMON}",
    "flash_attn_varlen_kvpacked_func": (f"q kv cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k {COMMON}"),
    "flash_attn_with_kvcache": (
        "q k_cache v_cache k v rotary_cos rotary_sin cache_seqlens cache_batch_idx cache_leftpad block_table "
        "softmax_scale causal window_size softcap rotary_interleaved alibi_slopes num_splits "
        "return_softmax_lse"
    ),
}


def random(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(HALF)


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    assert list(inspect.signature(getattr(flash_attn, name)).parameters) == SIGNATURES[name].split()


def test_packed_and_unpacked_are_the_same() -> None:
    qkv = random(2, 20, 3, 2, 16)
    q, k, v = qkv.unbind(2)
    out, lse, nothing = flash_attn.flash_attn_func(
        q, k, v, causal=True, window_size=(9, -1), return_attn_probs=True
    )
    exact, exact_lse = formula(q, k, v, Options(causal=True, window=(9, -1)))
    torch.testing.assert_close(out.double(), exact, **CLOSE)
    torch.testing.assert_close(lse.double(), exact_lse, rtol=1e-5, atol=1e-5)
    assert nothing is None
    packed = flash_attn.flash_attn_qkvpacked_func(qkv, 0.0, None, True, (9, -1))
    assert torch.equal(packed, out)
    assert torch.equal(flash_attn.flash_attn_kvpacked_func(q, qkv[:, :, 1:], 0.0, None, True, (9, -1)), out)


def test_several_sequences_in_all_packings() -> None:
    qkv = random(20, 3, 2, 16)
    bounds = torch.tensor([0, 7, 20], dtype=torch.int32)
    q, k, v = qkv.unbind(1)
    out = flash_attn.flash_attn_varlen_func(q, k, v, bounds, bounds, 13, 13, softmax_scale=0.3, softcap=5.0)
    exact, _ = formula(q, k, v, Options(scale=0.3, softcap=5.0), Sequences(bounds, bounds, 13, 13))
    torch.testing.assert_close(out.double(), exact, **CLOSE)
    options = {"softmax_scale": 0.3, "softcap": 5.0}
    assert torch.equal(flash_attn.flash_attn_varlen_qkvpacked_func(qkv, bounds, 13, **options), out)
    kv = qkv[:, 1:]
    assert torch.equal(
        flash_attn.flash_attn_varlen_kvpacked_func(q, kv, bounds, bounds, 13, 13, **options), out
    )


def test_gradients_reach_what_was_packed() -> None:
    qkv = random(1, 12, 3, 1, 16).requires_grad_()
    flash_attn.flash_attn_qkvpacked_func(qkv, causal=True).sum().backward()
    wide = qkv.detach().double().requires_grad_()
    formula(*wide.unbind(2), Options(causal=True))[0].sum().backward()
    torch.testing.assert_close(qkv.grad.double(), wide.grad, rtol=1e-2, atol=1e-2)


def test_decoding_with_pages_and_rotary() -> None:
    q, k, v = random(2, 1, 4, 32), random(2, 1, 2, 32, seed=1), random(2, 1, 2, 32, seed=2)
    caches = [random(9, 16, 2, 32, seed=seed) for seed in (3, 4)]
    table = torch.tensor([[8, 1, 5], [0, 3, 2]], dtype=torch.int32)
    lengths = torch.tensor([20, 3], dtype=torch.int32)
    angle = torch.rand(64, 8)
    cos, sin = angle.cos().to(HALF), angle.sin().to(HALF)
    out, lse = flash_attn.flash_attn_with_kvcache(
        q, *caches, k, v, cos, sin, lengths, block_table=table, causal=True, return_softmax_lse=True
    )
    turned = [apply_rotary_emb(each, cos, sin, True, seqlen_offsets=lengths) for each in (q, k)]
    for b, length in enumerate(lengths.tolist()):
        rows = torch.arange(length + 1)
        keys, values = (cache[table[b][rows // 16].long(), rows % 16][None] for cache in caches)
        torch.testing.assert_close(keys[:, -1], turned[1][b], rtol=2e-3, atol=2e-3)
        exact, exact_lse = formula(turned[0][b : b + 1], keys, values)
        torch.testing.assert_close(out[b : b + 1].double(), exact, **CLOSE)
        torch.testing.assert_close(lse[b : b + 1].double(), exact_lse, rtol=2e-3, atol=2e-3)


def test_a_cache_without_lengths_is_full() -> None:
    q, k, v = random(1, 1, 2, 16), random(1, 24, 1, 16, seed=1), random(1, 24, 1, 16, seed=2)
    out = flash_attn.flash_attn_with_kvcache(q, k, v)
    torch.testing.assert_close(out.double(), formula(q, k, v)[0], **CLOSE)


def test_what_is_not_there_says_so() -> None:
    q = random(1, 4, 1, 16)
    with pytest.raises(NotImplementedError, match="probabilities"):
        flash_attn.flash_attn_func(q, q, q, dropout_p=0.1, return_attn_probs=True)
    bounds = torch.tensor([0, 4], dtype=torch.int32)
    with pytest.raises(NotImplementedError, match="pages"):
        flash_attn.flash_attn_varlen_func(q[0], q[0], q[0], bounds, bounds, 4, 4, block_table=bounds[None])


# ---- Padding and rotary ----------------------------------------------------------------------------------


def test_padding_there_and_back() -> None:
    x = random(3, 5, 2).requires_grad_()
    mask = torch.tensor([[1, 1, 0, 0, 0], [0, 0, 0, 0, 0], [1, 0, 1, 1, 1]], dtype=torch.bool)
    tokens, indices, bounds, longest, in_use = unpad_input(x, mask)
    assert bounds.tolist() == [0, 2, 2, 6]
    assert bounds.dtype == torch.int32
    assert longest == 4
    assert in_use.tolist() == [2, 0, 4]
    assert torch.equal(tokens, x[mask])
    back = pad_input(tokens, indices, 3, 5)
    assert torch.equal(back, x * mask[..., None])
    back.sum().backward()
    assert torch.equal(x.grad, mask[..., None].to(HALF).expand_as(x))


def test_tokens_that_are_there_but_not_in_use() -> None:
    mask = torch.tensor([[1, 0, 0]], dtype=torch.int32)
    unused = torch.tensor([[0, 1, 0]], dtype=torch.int32)
    tokens, _, bounds, longest, in_use = unpad_input(random(1, 3, 2), mask, unused)
    assert (len(tokens), bounds.tolist(), longest, in_use.tolist()) == (2, [0, 2], 2, [1])


@pytest.mark.parametrize("interleaved", [False, True])
def test_rotary_is_a_rotation(interleaved: bool) -> None:
    x = torch.randn(2, 5, 3, 12, dtype=torch.float64).float()
    angle = torch.rand(40, 4) * 6
    turned = apply_rotary_emb(x, angle.cos(), angle.sin(), interleaved, seqlen_offsets=torch.tensor([0, 7]))
    assert torch.equal(turned[..., 8:], x[..., 8:])
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    i, j = (2, 3) if interleaved else (1, 5)  # pair 1
    c, s = angle[7 + 4, 1].cos(), angle[7 + 4, 1].sin()
    torch.testing.assert_close(turned[1, 4, :, i], x[1, 4, :, i] * c - x[1, 4, :, j] * s)
    torch.testing.assert_close(turned[1, 4, :, j], x[1, 4, :, i] * s + x[1, 4, :, j] * c)
    flat = apply_rotary_emb(
        x.flatten(0, 1), angle.cos(), angle.sin(), interleaved, cu_seqlens=torch.tensor([0, 5, 10])
    )
    torch.testing.assert_close(flat.view_as(x), apply_rotary_emb(x, angle.cos(), angle.sin(), interleaved))
    again = x.clone()
    assert apply_rotary_emb(again, angle.cos(), angle.sin(), interleaved, inplace=True) is again
    torch.testing.assert_close(again, flat.view_as(x))
