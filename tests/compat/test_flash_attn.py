"""flash-attn's interface: its signatures, its layouts, its meanings."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import inspect
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import torch

from flashpath.compat import distribution, flash_attn, install_as_flash_attn
from flashpath.compat.flash_attn.bert_padding import pad_input, unpad_input
from flashpath.compat.flash_attn.flash_attn_interface import _get_block_size_n
from flashpath.compat.flash_attn.layers.rotary import apply_rotary_emb
from flashpath.errors import FlashpathError
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


def random(*shape: int, seed: int = 0, device: str = "cpu") -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(device, HALF)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    return request.param


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
    assert nothing.numel() == 0
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


def test_keys_for_a_cache_of_unknown_length_are_refused() -> None:
    q = random(1, 1, 1, 16)
    with pytest.raises(FlashpathError, match="cache_seqlens"):
        flash_attn.flash_attn_with_kvcache(q, q, q, q, q)


def test_a_window_may_be_a_tensor_and_any_negative_side_is_open() -> None:
    q, k, v = (random(1, 20, 1, 16, seed=seed) for seed in range(3))
    out = flash_attn.flash_attn_func(q, k, v, window_size=torch.tensor([5, -7]))
    torch.testing.assert_close(out.double(), formula(q, k, v, Options(window=(5, -1)))[0], **CLOSE)


def test_a_query_that_sees_nothing_has_an_lse_of_plus_infinity() -> None:
    q, k = random(1, 6, 1, 16), random(1, 4, 1, 16, seed=1)
    out, lse, _ = flash_attn.flash_attn_func(q, k, k, causal=True, return_attn_probs=True)
    assert lse[0, 0, :2].tolist() == [torch.inf] * 2
    assert torch.isfinite(lse[0, 0, 2:]).all()
    assert not out[0, :2].any()


def test_head_dimensions_that_are_no_multiple_of_8(device: str) -> None:
    """Filled up with zeros; the scale is that of the dimension that was given."""
    q, k, v = (random(1, 24, heads, 19, seed=heads, device=device) for heads in (4, 2, 2))
    inputs = [each.clone().requires_grad_() for each in (q, k, v)]
    wide = [each.double().requires_grad_() for each in (q, k, v)]
    out, exact = flash_attn.flash_attn_func(*inputs, causal=True), formula(*wide, Options(causal=True))[0]
    assert out.shape == q.shape
    torch.testing.assert_close(out.double(), exact, **CLOSE)
    out.sum().backward()
    exact.sum().backward()
    for got, want in zip(inputs, wide, strict=True):
        torch.testing.assert_close(got.grad.double(), want.grad, rtol=1e-2, atol=1e-2)


# ---- Probabilities under dropout -------------------------------------------------------------------------


def softmax_of(probabilities: Any, scores: Any, lse: Any, head_dim: int) -> Any:
    """What flash-attn's tests make of the third result: the softmax, of blocks of keys with a scale each."""
    size = _get_block_size_n(probabilities.device, head_dim, True, False)
    largest = torch.stack([block.amax(-1) for block in scores.split(size, -1)], -1)
    largest = largest.flip(-1).cummax(-1).values.flip(-1).unbind(-1)
    blocks = probabilities.abs().double().split(size, -1)
    return torch.cat([b * torch.exp(m - lse)[..., None] for b, m in zip(blocks, largest, strict=True)], -1)


def test_probabilities_are_those_that_made_the_output(device: str) -> None:
    q, k, v = (random(2, n, heads, 20, seed=n, device=device) for n, heads in ((13, 4), (30, 2), (30, 2)))
    slopes = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.4, 0.1, 0.0, 0.2]], device=device)
    torch.manual_seed(5)
    out, lse, probabilities = flash_attn.flash_attn_func(
        q, k, v, 0.3, causal=True, window_size=(9, -1), alibi_slopes=slopes, return_attn_probs=True
    )
    assert probabilities.shape == (2, 4, 128, 128)
    assert probabilities.dtype == HALF
    assert not probabilities[:, :, 13:].any()
    assert not probabilities[..., 30:].any()
    here = probabilities[:, :, :13, :30]
    wide_q, wide_k, wide_v = q.double(), k.double(), v.double()
    keys, values = (each.repeat_interleave(2, 2) for each in (wide_k, wide_v))
    distance = torch.arange(30, device=device)[None, :] - torch.arange(13, device=device)[:, None] - 17
    scores = torch.einsum("bqhd,bkhd->bhqk", wide_q, keys) * 20**-0.5
    scores = scores - slopes[:, :, None, None] * distance.abs()
    scores = scores.masked_fill((distance > 0) | (distance < -9), -torch.inf)
    torch.testing.assert_close(lse.double(), scores.logsumexp(-1), rtol=1e-3, atol=1e-3)
    weights = softmax_of(here, scores, lse.double(), 20)
    torch.testing.assert_close(weights, scores.softmax(-1), rtol=2e-3, atol=1e-6)
    made = torch.einsum("bhqk,bkhd->bqhd", weights * (here >= 0) / 0.7, values)
    torch.testing.assert_close(out.double(), made, **CLOSE)
    dropped = (here < 0).sum() / (here != 0).sum()
    assert abs(dropped.item() - 0.3) < 0.08
    torch.manual_seed(5)
    again = flash_attn.flash_attn_func(q, k, v, 0.3, causal=True, window_size=(9, -1), alibi_slopes=slopes)
    assert torch.equal(again, out)


def test_probabilities_of_several_sequences_have_a_matrix_each() -> None:
    q, k, v = (random(20, 2, 16, seed=seed) for seed in range(3))
    bounds = torch.tensor([0, 7, 7, 20], dtype=torch.int32)
    torch.manual_seed(1)
    out, _, probabilities = flash_attn.flash_attn_varlen_func(
        q, k, v, bounds, bounds, 13, 13, 0.4, softcap=3.0, return_attn_probs=True
    )
    assert probabilities.shape == (3, 2, 128, 128)
    assert not probabilities[1].any()
    for batch, rows in ((0, slice(0, 7)), (2, slice(7, 20))):
        n = rows.stop - rows.start
        here = probabilities[batch, :, :n, :n].double()
        weights = here.abs() / here.abs().sum(-1, keepdim=True)
        made = torch.einsum("hqk,khd->qhd", weights * (here >= 0) / 0.6, v[rows].double())
        torch.testing.assert_close(out[rows].double(), made, **CLOSE)


# ---- Pages and caches ------------------------------------------------------------------------------------


@pytest.mark.parametrize("queries", [[5, 1, 3], [1, 1, 1]])
def test_pages_of_several_sequences(queries: list[int], device: str) -> None:
    """The second case, one query each, is a step of decoding."""
    lengths = [9, 5, 16]
    pages = [random(7, 8, 2, 16, seed=seed, device=device) for seed in (1, 2)]
    table = torch.tensor([[3, 6], [0, 1], [5, 2]], dtype=torch.int32, device=device)
    q = random(sum(queries), 4, 16, device=device)
    bounds = [
        torch.tensor([0, *each], device=device).cumsum(0).to(torch.int32) for each in (queries, lengths)
    ]
    options: Any = {"causal": True, "window_size": (6, -1), "return_attn_probs": True}
    most = max(queries), max(lengths)
    out, lse, _ = flash_attn.flash_attn_varlen_func(q, *pages, *bounds, *most, block_table=table, **options)
    k, v = (
        torch.cat([x[row.long()].flatten(0, 1)[:n] for row, n in zip(table, lengths, strict=True)])
        for x in pages
    )
    exact, exact_lse = formula(q, k, v, Options(causal=True, window=(6, -1)), Sequences(*bounds, *most))
    torch.testing.assert_close(out.double(), exact, **CLOSE)
    assert lse.shape == (4, sum(queries))
    torch.testing.assert_close(lse.double(), exact_lse, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("num_splits", [0, 1, 3])
def test_a_cache_with_an_odd_dimension_is_written_back(num_splits: int) -> None:
    """Also: entries by index, padding on the left, several new keys, more queries than them."""
    q, k, v = random(2, 3, 4, 20), random(2, 2, 2, 20, seed=1), random(2, 2, 2, 20, seed=2)
    caches = [random(3, 40, 2, 20, seed=seed) for seed in (3, 4)]
    before = [each.clone() for each in caches]
    lengths, entries, pads = (torch.tensor(x, dtype=torch.int32) for x in ([30, 7], [2, 0], [4, 0]))
    out = flash_attn.flash_attn_with_kvcache(
        q,
        *caches,
        k,
        v,
        cache_seqlens=lengths,
        cache_batch_idx=entries,
        cache_leftpad=pads,
        causal=True,
        num_splits=num_splits,
    )
    for b, (length, entry, pad) in enumerate(zip(lengths, entries, pads, strict=True)):
        for cache, old, new in zip(caches, before, (k, v), strict=True):
            assert torch.equal(cache[entry, length : length + 2], new[b])
            old[entry, length : length + 2] = new[b]
        keys, values = (cache[entry, pad : length + 2][None] for cache in caches)
        exact, _ = formula(q[b : b + 1], keys, values, Options(causal=True))
        torch.testing.assert_close(out[b : b + 1].double(), exact, **CLOSE)
    for cache, old in zip(caches, before, strict=True):
        assert torch.equal(cache, old)  # and nothing else


@pytest.mark.parametrize("window", [(-1, -1), (12, -1)])
def test_queries_turn_with_their_positions_where_anything_bounds_them(window: tuple[int, int]) -> None:
    q, k, v = random(1, 3, 2, 16), random(1, 3, 2, 16, seed=1), random(1, 3, 2, 16, seed=2)
    caches = [random(1, 32, 2, 16, seed=seed) for seed in (3, 4)]
    lengths = torch.tensor([20], dtype=torch.int32)
    angle = torch.rand(64, 8) * 6
    cos, sin = angle.cos().to(HALF), angle.sin().to(HALF)
    out = flash_attn.flash_attn_with_kvcache(q, *caches, k, v, cos, sin, lengths, window_size=window)
    if window[0] < 0:  # all at one position
        turned = apply_rotary_emb(q.flatten(1, 2)[:, None], cos, sin, True, seqlen_offsets=20).view_as(q)
    else:
        turned = apply_rotary_emb(q, cos, sin, True, seqlen_offsets=lengths)
    keys, values = (cache[:, :23] for cache in caches)
    torch.testing.assert_close(
        out.double(), formula(turned, keys, values, Options(window=window))[0], **CLOSE
    )


# ---- In flash_attn's place -------------------------------------------------------------------------------


@pytest.fixture
def without_flash_attn(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = {name: x for name, x in sys.modules.items() if name.partition(".")[0] != "flash_attn"}
    monkeypatch.setattr(sys, "modules", modules)
    finders = [each for each in sys.meta_path if not isinstance(each, distribution.Finder)]
    monkeypatch.setattr(sys, "meta_path", finders)


@pytest.mark.usefixtures("without_flash_attn")
def test_programs_that_ask_for_its_version() -> None:
    with pytest.raises(importlib.metadata.PackageNotFoundError):
        importlib.metadata.version("flash_attn")
    for _ in range(2):
        install_as_flash_attn()
    for name in ("flash_attn", "flash-attn"):
        assert importlib.metadata.version(name) == flash_attn.__version__
    assert "not flash-attn itself" in importlib.metadata.metadata("flash_attn")["Summary"]
    assert importlib.metadata.packages_distributions()["flash_attn"] == ["flash_attn"]
    assert importlib.util.find_spec("flash_attn") is not None
    assert importlib.metadata.version("torch")
    assert sum(isinstance(each, distribution.Finder) for each in sys.meta_path) == 1


@pytest.mark.usefixtures("without_flash_attn")
def test_programs_find_it_as_flash_attn() -> None:
    install_as_flash_attn()
    install_as_flash_attn()  # once more does no harm
    assert importlib.import_module("flash_attn").flash_attn_func is flash_attn.flash_attn_func
    assert importlib.import_module("flash_attn.bert_padding").pad_input is pad_input
    assert importlib.import_module("flash_attn.layers.rotary").apply_rotary_emb is apply_rotary_emb


@pytest.mark.usefixtures("without_flash_attn")
def test_the_code_of_the_page_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "flash_attn.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL))
    names: dict[str, Any] = {}
    exec(code, names)
    assert names["out"].shape == (1, 32, 2, 64)
    assert names["unpad_input"] is unpad_input


@pytest.mark.usefixtures("without_flash_attn")
def test_it_does_not_replace_a_flash_attn_that_is_in_use() -> None:
    sys.modules["flash_attn"] = types.ModuleType("flash_attn")
    with pytest.raises(FlashpathError, match="imported already"):
        install_as_flash_attn()


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
    short = apply_rotary_emb(x, angle[:3].cos(), angle[:3].sin(), interleaved)
    torch.testing.assert_close(short[:, :3], flat.view_as(x)[:, :3])
    assert torch.equal(short[:, 3:], x[:, 3:])
    again = x.clone()
    assert apply_rotary_emb(again, angle.cos(), angle.sin(), interleaved, inplace=True) is again
    torch.testing.assert_close(again, flat.view_as(x))
