"""flash-attn's rotary module and fused norms, beside their formulas."""

# pyright: basic, reportArgumentType=false

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from flashpath.compat.flash_attn.layers import rotary
from flashpath.compat.flash_attn.ops.triton import layer_norm
from flashpath.errors import FlashpathError

N = 24
NORM = (
    "x weight bias residual x1 weight1 bias1 eps dropout_p rowscale prenorm residual_in_fp32 "
    "is_rms_norm return_dropout_mask out residual_out"
)
SIGNATURES = {
    rotary.apply_rotary_emb_qkv_: "qkv cos sin cos_k sin_k interleaved seqlen_offsets num_heads_q",
    rotary.apply_rotary_emb_kv_: "kv cos sin interleaved seqlen_offsets",
    rotary.RotaryEmbedding: "dim base interleaved scale_base device",
    rotary.RotaryEmbedding.forward: "self qkv kv seqlen_offset max_seqlen num_heads_q",
    layer_norm.layer_norm_fn: NORM,
    layer_norm.rms_norm_fn: NORM.replace("is_rms_norm ", ""),
    layer_norm.RMSNorm: "hidden_size eps dropout_p device dtype",
}


@pytest.mark.parametrize("function", SIGNATURES)
def test_signatures(function: Any) -> None:
    assert list(inspect.signature(function).parameters) == SIGNATURES[function].split()


# ---- Rotary ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("scale_base", [None, 512])
def test_packed_q_and_k_turn_in_place(interleaved: bool, scale_base: Any) -> None:
    module = rotary.RotaryEmbedding(8, interleaved=interleaved, scale_base=scale_base)
    assert not module.state_dict()
    qkv = torch.randn(2, 5, 3, 2, 16)
    before = qkv.clone()
    out = module(qkv, seqlen_offset=3)
    assert out is qkv
    assert torch.equal(out[:, :, 2], before[:, :, 2])
    angles = torch.outer(torch.arange(3.0, 8.0), 10000 ** (-torch.arange(0, 8, 2) / 8))
    growth = torch.ones(())
    if scale_base:
        scale = (torch.arange(0, 8, 2) + 0.4 * 8) / (1.4 * 8)
        growth = scale ** ((torch.arange(3.0, 8.0)[:, None] - 4) / scale_base)
    for i, factor in ((0, growth), (1, 1 / growth)):
        wanted = rotary.apply_rotary_emb_torch(
            before[:, :, i], angles.cos() * factor, angles.sin() * factor, interleaved
        )
        torch.testing.assert_close(out[:, :, i], wanted, rtol=1e-5, atol=1e-5)
    q, kv = before[:, :, 0].clone(), before[:, :, 1:].clone()
    turned = module(q, kv, seqlen_offset=torch.tensor([3, 3]), max_seqlen=8)
    assert turned[0] is q
    assert torch.equal(torch.cat((turned[0][:, :, None], turned[1]), dim=2), out)


def test_heads_of_q_more_than_of_k() -> None:
    cos, sin = torch.randn(2, 6, 4).unbind(0)
    qkv = torch.randn(1, 6, 4 + 2 * 2, 8)
    before = qkv.clone()
    rotary.apply_rotary_emb_qkv_(qkv, cos, sin, num_heads_q=4)
    wanted = rotary.apply_rotary_emb_torch(before[:, :, :6], cos, sin)
    torch.testing.assert_close(qkv[:, :, :6], wanted, rtol=1e-5, atol=1e-5)
    assert torch.equal(qkv[:, :, 6:], before[:, :, 6:])
    with pytest.raises(FlashpathError, match="num_heads_q = None"):
        rotary.apply_rotary_emb_qkv_(qkv, cos, sin)
    with pytest.raises(FlashpathError, match="2, heads"):
        rotary.apply_rotary_emb_kv_(qkv, cos, sin)


@pytest.mark.parametrize("is_leaf", [False, True])
def test_gradients_turn_back(is_leaf: bool) -> None:
    """A leaf that requires a gradient is not written to."""
    cos, sin = torch.randn(2, 4, 4).unbind(0)
    qkv = torch.randn(1, 4, 3, 2, 8, requires_grad=True)
    before = qkv.detach().clone()
    out = rotary.apply_rotary_emb_qkv_(qkv if is_leaf else qkv * 1, cos, sin)
    given = torch.randn_like(out)
    (got,) = torch.autograd.grad(out, qkv, given)
    q, k, v = qkv.unbind(2)
    wanted = torch.stack([*(rotary.apply_rotary_emb_torch(x, cos, sin) for x in (q, k)), v], dim=2)
    torch.testing.assert_close(out, wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(got, torch.autograd.grad(wanted, qkv, given)[0], rtol=1e-5, atol=1e-5)
    assert torch.equal(qkv, before)


def test_tables_grow_and_stay_exact() -> None:
    module = rotary.RotaryEmbedding(8).bfloat16()
    with pytest.raises(FlashpathError, match="max_seqlen"):
        module(torch.randn(1, 2, 3, 1, 8), seqlen_offset=torch.tensor([4]))
    module(torch.randn(1, 300, 3, 1, 8))
    exact = torch.outer(torch.arange(300.0), 10000 ** (-torch.arange(0, 8, 2) / 8)).cos()
    torch.testing.assert_close(module._cos_cached, exact, rtol=1e-5, atol=1e-5)
    kept = module._cos_cached
    module(torch.randn(1, 20, 3, 1, 8))
    assert module._cos_cached is kept


# ---- Norms -----------------------------------------------------------------------------------------------


def formula(x: Any, weight: Any, bias: Any, is_rms_norm: bool, eps: float = 1e-6) -> Any:
    if is_rms_norm:
        y = F.rms_norm(x.float(), (N,), weight.float(), eps)
        return y if bias is None else y + bias.float()
    return F.layer_norm(x.float(), (N,), weight.float(), None if bias is None else bias.float(), eps)


@pytest.mark.parametrize("is_rms_norm", [False, True])
@pytest.mark.parametrize("residual_type", [None, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("has_bias", [False, True])
def test_norms_and_their_sums(is_rms_norm: bool, residual_type: Any, has_bias: bool) -> None:
    x = torch.randn(2, 3, N).bfloat16().requires_grad_()
    weight = torch.randn(N).requires_grad_()
    bias = torch.randn(N) if has_bias else None
    residual = None if residual_type is None else torch.randn(2, 3, N, dtype=residual_type)
    function = layer_norm.rms_norm_fn if is_rms_norm else layer_norm.layer_norm_fn
    out, total = function(x, weight, bias, residual, prenorm=True, residual_in_fp32=True)
    assert out.dtype == torch.bfloat16
    assert total.dtype == (residual_type or torch.float32)
    exact_total = x.float() if residual is None else x.float() + residual.float()
    exact = formula(exact_total, weight, bias, is_rms_norm)
    near = {"rtol": 2e-2, "atol": 2e-2}
    torch.testing.assert_close(total.float(), exact_total, **near)
    torch.testing.assert_close(out.float(), exact, **near)
    given = torch.randn(2, 3, N)
    got = torch.autograd.grad(out.float(), (x, weight), given, retain_graph=True)
    wanted = torch.autograd.grad(exact, (x, weight), given)
    torch.testing.assert_close(got[0].float(), wanted[0].float(), rtol=5e-2, atol=5e-2)
    torch.testing.assert_close(got[1], wanted[1], rtol=5e-2, atol=5e-2)
    alone = function(x, weight, bias, residual)
    assert torch.equal(alone, out)


def test_what_few_models_ask_for() -> None:
    x, x1, residual = torch.randn(3, 4, N)
    weight, weight1, bias1 = torch.randn(3, N)
    scale = torch.rand(4)
    out, out1, total = layer_norm.layer_norm_fn(x, weight, None, residual, x1, weight1, bias1, prenorm=True)
    torch.testing.assert_close(total, x + x1 + residual)
    torch.testing.assert_close(out, formula(total, weight, None, False), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(out1, formula(total, weight1, bias1, False), rtol=1e-5, atol=1e-5)
    scaled = layer_norm.rms_norm_fn(x, weight, None, rowscale=scale)
    torch.testing.assert_close(scaled, formula(x * scale[:, None], weight, None, True), rtol=1e-5, atol=1e-5)
    torch.manual_seed(0)
    made = layer_norm.rms_norm_fn(
        x, weight, None, x1=x1, dropout_p=0.5, prenorm=True, return_dropout_mask=True
    )
    dropped, total, mask, mask1 = made
    torch.testing.assert_close(total, 2 * (x * mask + x1 * mask1))
    torch.testing.assert_close(dropped, formula(total, weight, None, True), rtol=1e-5, atol=1e-5)
    given = torch.empty_like(x)
    assert layer_norm.rms_norm_fn(x, weight, None, out=given) is given
    with pytest.raises(FlashpathError, match="x1 and rowscale"):
        layer_norm.rms_norm_fn(x, weight, None, x1=x1, rowscale=scale)


def test_the_module_and_the_norm_before_a_product() -> None:
    module = layer_norm.RMSNorm(N)
    assert list(module.state_dict()) == ["weight"]
    x, product, bias = torch.randn(2, N), torch.randn(5, N), torch.randn(5)
    wanted = formula(x, module.weight, None, True, 1e-5)
    torch.testing.assert_close(module(x), wanted, rtol=1e-5, atol=1e-5)
    out, total = layer_norm.layer_norm_linear_fn(
        x, module.weight, None, product, bias, eps=1e-5, prenorm=True, is_rms_norm=True
    )
    torch.testing.assert_close(out, F.linear(wanted, product, bias), rtol=1e-5, atol=1e-5)
    assert torch.equal(total, x)
