"""`attn_implementation="flashpath"` without patch: which masks are the kernels', and which torch's."""

# pyright: basic, reportArgumentType=false

from __future__ import annotations

import copy
import subprocess
import sys
from typing import Any

import pytest
import torch

from flashpath import nn, ops
from flashpath.nn import interface
from tests.harness.tiny_models import WINDOW, tiny, tokens, transformers


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[dict[str, Any], bool]]:
    """What the kernels were asked for, and what was left to torch."""
    made: list[Any] = []
    transformers()
    nn.register_with_transformers()
    kernel, fallback = interface._attention, interface.masked_attention

    def attention(*args: Any, **options: Any) -> Any:
        made.append(options)
        return kernel(*args, **options)

    def masked(*args: Any) -> Any:
        made.append("torch")
        return fallback(*args)

    monkeypatch.setattr(interface, "_attention", attention)
    monkeypatch.setattr(interface, "masked_attention", masked)
    return made


def pair(family: str, dtype: Any = torch.bfloat16, **more: Any) -> tuple[Any, Any]:
    """The same model with torch's eager attention, in float32, and with ours."""
    nn.register_with_transformers()
    model = tiny(family, dtype=dtype, **more)
    exact = copy.deepcopy(model).float()
    exact.set_attn_implementation("eager")
    model.set_attn_implementation("flashpath")
    return exact, model


def near(got: Any, exact: Any) -> None:
    torch.testing.assert_close(got.float(), exact, rtol=2e-2, atol=3e-2)


@pytest.mark.parametrize("family", ["Llama", "Qwen2", "Gemma2"])
def test_a_plain_batch_is_the_kernels(family: str, calls: Any) -> None:
    exact, model = pair(family)
    ids = tokens(2, 2 * WINDOW)
    with torch.no_grad():
        near(model(input_ids=ids).logits, exact(input_ids=ids).logits)
        near(model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits, exact(input_ids=ids).logits)
    windows = [each.get("window") for each in calls]
    seen = (WINDOW - 1, 0)
    assert windows == {"Llama": [None, None], "Qwen2": [None, seen], "Gemma2": [seen, None]}[family] * 2
    assert all(each["causal"] for each in calls)
    assert all(each.get("softcap") == (50.0 if family == "Gemma2" else None) for each in calls)


@pytest.mark.parametrize("family", ["Llama", "Gemma2"])
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_is_heeded_by_torchs_attention(family: str, side: str, calls: Any) -> None:
    exact, model = pair(family)
    ids = tokens(2, 2 * WINDOW)
    mask = torch.ones_like(ids)
    mask[0, slice(None, 3) if side == "left" else slice(-3, None)] = 0
    with torch.no_grad():
        got, wanted = (each(input_ids=ids, attention_mask=mask).logits for each in (model, exact))
    near(got[mask.bool()], wanted[mask.bool()])
    assert calls == ["torch"] * 2


def test_sequences_packed_in_one_row_do_not_see_each_other(calls: Any) -> None:
    """By their positions torch's attention separates them, by bounds of sequences the kernels."""
    exact, model = pair("Llama")
    ids = tokens(1, 9)
    positions = torch.tensor([[0, 1, 2, 3, 0, 1, 2, 3, 4]])
    bounds = torch.tensor([0, 4, 9], dtype=torch.int32)
    with torch.no_grad():
        wanted = torch.cat([exact(input_ids=part).logits for part in (ids[:, :4], ids[:, 4:])], dim=1)
        near(model(input_ids=ids, position_ids=positions, use_cache=False).logits, wanted)
        assert calls == ["torch"] * 2
        by_bounds = model(
            input_ids=ids,
            position_ids=positions,
            use_cache=False,
            cu_seq_lens_q=bounds,
            cu_seq_lens_k=bounds,
            max_length_q=5,
            max_length_k=5,
        )
    # transformers makes the mask of packed sequences too; with bounds nobody reads it.
    near(by_bounds.logits, wanted)


@pytest.mark.parametrize("family", ["Llama", "Qwen2"])
def test_tokens_behind_a_cache(family: str, calls: Any) -> None:
    """Several at once, then one, which is torch's: the last query stands at the last key."""
    exact, model = pair(family)
    ids = tokens(2, 15)
    with torch.no_grad():
        first = model(input_ids=ids[:, :8])
        second = model(input_ids=ids[:, 8:14], past_key_values=first.past_key_values)
        third = model(input_ids=ids[:, 14:], past_key_values=second.past_key_values)
        wanted = exact(input_ids=ids).logits
    near(torch.cat([first.logits, second.logits, third.logits], dim=1), wanted)
    assert "torch" not in calls[:4]
    assert calls[4:] == (["torch"] * 2)


def test_a_static_cache_is_torchs(calls: Any) -> None:
    exact, model = pair("Llama")
    ids = tokens(1, 6)
    caches = [transformers().StaticCache(config=each.config, max_cache_len=16) for each in (model, exact)]
    with torch.no_grad():
        for part in (ids[:, :5], ids[:, 5:]):
            got, wanted = (
                each(input_ids=part, past_key_values=cache).logits
                for each, cache in zip((model, exact), caches, strict=True)
            )
            near(got, wanted)
    assert set(calls) == {"torch"}


def test_float32_and_wide_heads_are_torchs(calls: Any) -> None:
    exact, model = pair("Gemma2", torch.float32)
    ids = tokens(1, 2 * WINDOW)
    with torch.no_grad():
        torch.testing.assert_close(
            model(input_ids=ids).logits, exact(input_ids=ids).logits, rtol=1e-4, atol=1e-4
        )
        with torch.autocast("cpu", torch.bfloat16):
            model(input_ids=ids)
        wide = pair("Llama", head_dim=264, num_hidden_layers=1)
        near(wide[1](input_ids=ids).logits, wide[0](input_ids=ids).logits)
    assert calls[:2] == ["torch"] * 2
    assert [type(each) for each in calls[2:]] == [dict, dict, str]


def test_transformers_is_not_imported_before_it_is_needed() -> None:
    code = "import sys, flashpath as fp; fp.nn.RMSNorm(4); sys.exit('transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_model_is_made_with_it() -> None:
    nn.register_with_transformers()
    llama = tiny("Llama").config
    model = transformers().AutoModelForCausalLM.from_config(llama, attn_implementation="flashpath")
    assert model.config._attn_implementation == "flashpath"


def test_sinks_and_dropout_reach_the_kernel(calls: Any) -> None:
    q, k = (torch.randn(1, heads, 9, 16).bfloat16() for heads in (4, 2))
    sinks = torch.randn(4)

    class Layer(torch.nn.Module):
        is_causal = True

    out, weights = interface.attention_forward(Layer(), q, k, k, None, scaling=0.3, s_aux=sinks)
    wanted = ops.attention(
        *(x.transpose(1, 2) for x in (q, k, k)), causal=True, scale=0.3, sinks=sinks, backend="reference"
    )
    assert weights is None
    torch.testing.assert_close(out, wanted, rtol=0, atol=1e-2)
    by_torch = interface.masked_attention(q, k, k, None, True, None, 0.0, 0.3, None, sinks, None)
    torch.testing.assert_close(by_torch.transpose(1, 2), wanted, rtol=0, atol=2e-2)
    torch.manual_seed(0)
    dropped = interface.attention_forward(Layer(), q, k, k, None, dropout=0.5)[0]
    assert calls[-1]["dropout_p"] == 0.5
    assert not torch.equal(dropped, out)
