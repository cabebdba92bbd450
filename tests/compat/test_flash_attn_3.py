"""FlashAttention 3's module: its signatures, what it gives, and words where there is no kernel."""

# pyright: basic, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import importlib
import inspect
import sys
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.compat import flash_attn_3, install_as_flash_attn_3
from flashpath.errors import FlashpathError

DESCALES = "q_descale k_descale v_descale"
TUNING = f"softmax_scale causal qv {DESCALES} window_size attention_chunk softcap num_splits pack_gqa"
SIGNATURES = {
    "flash_attn_func": f"q k v {TUNING} deterministic sm_margin return_attn_probs",
    "flash_attn_varlen_func": (
        "q k v cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k seqused_q seqused_k "
        f"{TUNING} deterministic sm_margin return_attn_probs"
    ),
    "flash_attn_qkvpacked_func": (
        f"qkv softmax_scale causal {DESCALES} window_size attention_chunk softcap deterministic num_heads_q "
        "sm_margin return_attn_probs"
    ),
    "flash_attn_with_kvcache": (
        "q k_cache v_cache k v qv rotary_cos rotary_sin cache_seqlens cache_batch_idx cache_leftpad "
        f"page_table cu_seqlens_q cu_seqlens_k_new max_seqlen_q rotary_seqlens {DESCALES} softmax_scale "
        "causal window_size attention_chunk softcap rotary_interleaved scheduler_metadata num_splits "
        "pack_gqa sm_margin return_softmax_lse"
    ),
    "flash_attn_combine": "out_partial lse_partial out out_dtype",
}


def random(*shape: int, seed: int = 0) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).half()


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    found = list(inspect.signature(getattr(flash_attn_3, name)).parameters)
    assert found == SIGNATURES[name].split()


def test_a_program_finds_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "flash_attn_interface", raising=False)
    install_as_flash_attn_3()
    assert importlib.import_module("flash_attn_interface") is flash_attn_3
    monkeypatch.setitem(sys.modules, "flash_attn_interface", sys)
    with pytest.raises(FlashpathError, match="flash_attn_interface of another package"):
        install_as_flash_attn_3()


@pytest.mark.parametrize("dim", [16, 20])
def test_dense_and_packed(dim: int) -> None:
    q, k, v = (random(2, 9, heads, dim, seed=i) for i, heads in enumerate((4, 2, 2)))
    options = {"causal": True, "window_size": (4, 0), "softcap": 5.0}
    out, lse = flash_attn_3.flash_attn_func(q, k, v, return_attn_probs=True, **options)
    same = {"causal": True, "window": (4, 0), "softcap": 5.0, "backend": "reference", "return_lse": True}
    filled = (torch.nn.functional.pad(x, (0, -dim % 8)) for x in (q, k, v))
    wanted, wanted_lse = ops.attention(*filled, scale=dim**-0.5, **same)
    torch.testing.assert_close(out, wanted[..., :dim], rtol=0, atol=5e-3)
    torch.testing.assert_close(lse, wanted_lse, rtol=1e-3, atol=1e-3)
    assert torch.equal(flash_attn_3.flash_attn_func(q, k, v, **options), out)
    together = torch.cat((q, k, v), dim=2)
    assert torch.equal(flash_attn_3.flash_attn_qkvpacked_func(together, num_heads_q=4, **options), out)
    packed = torch.stack((q, q, q), dim=2)
    assert torch.equal(flash_attn_3.flash_attn_qkvpacked_func(packed), flash_attn_3.flash_attn_func(q, q, q))
    blind = flash_attn_3.flash_attn_func(q, k[:, :4], v[:, :4], causal=True, return_attn_probs=True)[1]
    assert blind[0, 0, 0] == -torch.inf


def test_sequences_of_which_some_keys_are_used() -> None:
    q, k, v = (random(7, 2, 16, seed=i) for i in range(3))
    bounds = torch.tensor([0, 3, 7], dtype=torch.int32)
    used = torch.tensor([2, 4], dtype=torch.int32)
    call = (q, k, v, bounds, bounds, 4, 4)
    out = flash_attn_3.flash_attn_varlen_func(*call)
    parts = [flash_attn_3.flash_attn_func(*(x[None, i:j] for x in (q, k, v))) for i, j in ((0, 3), (3, 7))]
    torch.testing.assert_close(out, torch.cat([part[0] for part in parts]), rtol=0, atol=2e-3)
    fewer = flash_attn_3.flash_attn_varlen_func(*call, seqused_k=used)
    assert torch.equal(fewer[3:], out[3:])
    wanted = flash_attn_3.flash_attn_func(q[None, :3], k[None, :2], v[None, :2])
    torch.testing.assert_close(fewer[:3], wanted[0], rtol=0, atol=2e-3)


@pytest.mark.parametrize("has_pages", [False, True])
def test_a_step_and_its_parts_put_together(has_pages: bool) -> None:
    q = random(2, 1, 4, 16)
    caches = [random(2, 32, 2, 16, seed=i) for i in (1, 2)]
    lengths = torch.tensor([20, 32], dtype=torch.int32)
    given: dict[str, Any] = {"cache_seqlens": lengths, "return_softmax_lse": True}
    out, lse, *rest = flash_attn_3.flash_attn_with_kvcache(q, *caches, **given)
    assert [x.numel() for x in rest] == [0, 0]
    if has_pages:
        pages = [each.reshape(4, 16, 2, 16) for each in caches]
        table = torch.tensor([[0, 1], [2, 3]], dtype=torch.int32)
        paged = flash_attn_3.flash_attn_with_kvcache(q, *pages, page_table=table, **given)[0]
        torch.testing.assert_close(paged, out, rtol=0, atol=2e-3)
        return
    halves = [
        flash_attn_3.flash_attn_with_kvcache(
            q,
            *(each[:, part] for each in caches),
            cache_seqlens=length.int(),
            return_softmax_lse=True,
        )
        for part, length in ((slice(0, 16), lengths.clamp(max=16)), (slice(16, 32), lengths - 16))
    ]
    outs = torch.stack([each[0].float() for each in halves])
    lses = torch.stack([each[1].transpose(1, 2) for each in halves])
    combined, combined_lse = flash_attn_3.flash_attn_combine(outs, lses, out_dtype=torch.float16)
    torch.testing.assert_close(combined, out, rtol=0, atol=2e-3)
    torch.testing.assert_close(combined_lse, lse.transpose(1, 2), rtol=1e-3, atol=1e-3)
    with pytest.raises(FlashpathError, match="lse_partial of shape"):
        flash_attn_3.flash_attn_combine(outs, lses[:1])


def test_what_is_not_there_is_said() -> None:
    q = random(1, 4, 2, 16)
    one = torch.ones(1)
    calls = {
        "qv": lambda: flash_attn_3.flash_attn_func(q, q, q, qv=q),
        "k_descale": lambda: flash_attn_3.flash_attn_func(q, q, q, k_descale=one),
        "attention_chunk": lambda: flash_attn_3.flash_attn_func(q, q, q, attention_chunk=2),
        "seqused_q": lambda: flash_attn_3.flash_attn_varlen_func(q[0], q[0], q[0], one, one, 4, 4, one),
        "cu_seqlens_q": lambda: flash_attn_3.flash_attn_with_kvcache(q, q, q, cu_seqlens_q=one),
        "rotary_seqlens": lambda: flash_attn_3.flash_attn_with_kvcache(q, q, q, rotary_seqlens=one),
    }
    for key, call in calls.items():
        with pytest.raises(FlashpathError, match=rf"got {key}, which flashpath has no kernel for"):
            call()
    with pytest.raises(FlashpathError, match="flash_attn_func got float8_e4m3fn"):
        flash_attn_3.flash_attn_func(*[torch.zeros(1, 4, 2, 16, dtype=torch.float8_e4m3fn)] * 3)
