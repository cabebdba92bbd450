"""The modules beside those that they stand for: torch's, and by their state dicts those of transformers."""

# pyright: basic, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import flashpath as fp
from flashpath import nn
from flashpath.errors import FlashpathError
from tests.harness.tiny_models import modeling, tiny

N = 24


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("ours", "torchs"), [(nn.RMSNorm, torch.nn.RMSNorm), (nn.LayerNorm, torch.nn.LayerNorm)]
)
def test_norms_load_torchs_state(ours: Any, torchs: Any, dtype: Any) -> None:
    theirs, mine = (each(N, dtype=dtype) for each in (torchs, ours))
    for weight in theirs.parameters():
        torch.nn.init.normal_(weight)
    mine.load_state_dict(theirs.state_dict())
    x = torch.randn(3, N, dtype=dtype)
    close = {"rtol": 2e-2, "atol": 2e-2} if dtype == torch.bfloat16 else {}
    torch.testing.assert_close(mine(x), theirs(x), **close)
    assert isinstance(mine, torchs)
    again = copy.deepcopy(pickle.loads(pickle.dumps(mine)))
    assert torch.equal(again(x), mine(x))
    assert torch.equal(ours(N, elementwise_affine=False)(x), ours(N, dtype=dtype)(x))


@pytest.mark.parametrize("ours", [nn.RMSNorm, nn.LayerNorm])
def test_weights_stored_less_one(ours: Any) -> None:
    norm, plus = ours(N), ours(N, weight_offset=1.0)
    x = torch.randn(3, N)
    assert not plus.weight.any()
    torch.testing.assert_close(plus(x), norm(x))
    plus.weight.data.normal_()
    norm.weight.data = plus.weight.data + 1
    torch.testing.assert_close(plus(x), norm(x))
    assert "weight_offset=1.0" in repr(plus)
    with pytest.raises(FlashpathError, match="last dimension alone"):
        ours((2, N))


@pytest.mark.parametrize(
    ("family", "ours"),
    [
        ("Llama", lambda: nn.SwiGLU(32, 40)),
        ("Qwen3", lambda: nn.GatedMLP(32, 40, "silu")),
        ("Gemma", lambda: nn.GeGLU(32, 40)),
    ],
)
def test_mlps_load_the_state_of_models(family: str, ours: Any) -> None:
    theirs = tiny(family, dtype=torch.float32).model.layers[0].mlp
    mine = ours()
    mine.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 3, 32)
    torch.testing.assert_close(mine(x), theirs(x), rtol=1e-5, atol=1e-6)
    with pytest.raises(FlashpathError, match="activation = 'tanh'"):
        nn.GatedMLP(8, 8, "tanh")


@pytest.mark.parametrize("positions", [None, torch.tensor([[5, 6, 7, 8], [0, 1, 2, 40]])])
def test_rotary_turns_as_models_do(positions: Any) -> None:
    llama = tiny("Llama", dtype=torch.float32)
    theirs = llama.model.rotary_emb
    rows = torch.arange(4)[None] if positions is None else positions
    q, k = torch.randn(2, 4, 4, 8), torch.randn(2, 4, 2, 8)
    cos, sin = theirs(q, rows)
    turn = modeling("Llama").apply_rotary_pos_emb
    wanted = turn(q.transpose(1, 2), k.transpose(1, 2), cos, sin)
    mine = nn.Rotary(8, max_positions=64)
    got = mine(q, k, positions)
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one, other.transpose(1, 2), rtol=1e-5, atol=1e-5)


def test_rotary_has_no_state_and_keeps_float32() -> None:
    mine = nn.Rotary(8, max_positions=4)
    assert not mine.state_dict()
    q = torch.randn(1, 3, 2, 8)
    shifted = mine(q, q, offset=20)[0]  # tables grow
    assert torch.equal(shifted, nn.Rotary(8, max_positions=64)(q, q, torch.arange(20, 23))[0])
    half = copy.deepcopy(mine).bfloat16()
    assert half.inv_freq.dtype == torch.float32
    assert torch.equal(half.inv_freq, mine.inv_freq)
    assert half(q.bfloat16(), q.bfloat16())[0].dtype == torch.bfloat16
    with pytest.raises(FlashpathError, match="even number"):
        nn.Rotary(7)
    with pytest.raises(FlashpathError, match=r"must be \(4\)"):
        nn.Rotary(8, inv_freq=torch.ones(3))


def attention_of(family: str) -> tuple[Any, Any, Any]:
    """A layer's attention of transformers in float32, ours with its weights in bfloat16, and their rotary."""
    model = tiny(family, dtype=torch.float32)
    theirs = model.model.layers[0].self_attn
    options: dict[str, Any] = {"Llama": {"bias": True}, "Qwen2": {"bias": True, "out_bias": False}}.get(
        family, {}
    )
    if family == "Qwen3":
        options["qk_norm"] = model.config.rms_norm_eps
    rotary = nn.Rotary(8, model.config.rope_parameters["rope_theta"], max_positions=64)
    mine = nn.Attention(32, 4, 2, 8, rotary=rotary, **options)
    mine.load_state_dict(theirs.state_dict())
    return theirs, mine, model.model.rotary_emb


@pytest.mark.parametrize("family", ["Llama", "Qwen2", "Qwen3"])
def test_attention_loads_the_state_of_models(family: str) -> None:
    theirs, mine, rotary = attention_of(family)
    x = torch.randn(2, 10, 32)
    rows = torch.arange(10)[None]
    mask = torch.ones(10, 10).tril().log()[None, None]
    wanted = theirs(x, position_embeddings=rotary(x, rows), attention_mask=mask)[0]
    mine.backend = "reference"
    torch.testing.assert_close(mine(x), wanted, rtol=1e-4, atol=1e-4)
    mine.backend = None
    near = {"rtol": 2e-2, "atol": 2e-2}
    torch.testing.assert_close(copy.deepcopy(mine).bfloat16()(x.bfloat16()).float(), wanted, **near)
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(mine(x).float(), wanted, **near)


@pytest.mark.parametrize(("window", "dim"), [(None, 8), (4, 8), (None, 16)])
def test_a_cache_gives_what_the_whole_sequence_gives(window: int | None, dim: int) -> None:
    """16 is a dimension that attention_decode rotates itself."""
    mine = nn.Attention(32, 4, 2, dim, window=window, rotary=nn.Rotary(dim, max_positions=16)).bfloat16()
    x = torch.randn(2, 9, 32).bfloat16()
    with torch.no_grad():
        whole = mine(x)
        cache = mine.cache(2, 12)
        parts = [mine(part, cache) for part in (x[:, :5], x[:, 5:8], x[:, 8:])]
        torch.testing.assert_close(torch.cat(parts, dim=1), whole, rtol=2e-2, atol=2e-2)
        assert cache.longest == 9
        assert cache.lengths.tolist() == [9, 9]
        with pytest.raises(FlashpathError, match="room for 12 tokens: 9 are in it, and 4"):
            mine(x[:, :4], cache)
        with pytest.raises(FlashpathError, match="cache of 2"):
            mine(x[:1], cache)
        with pytest.raises(FlashpathError, match="positions, or with causal=False"):
            mine(x[:, :1], cache, torch.tensor([3]))
        cache.reset()
        torch.testing.assert_close(mine(x[:, :5], cache), parts[0], rtol=0, atol=0)
    with pytest.raises(FlashpathError, match="heads = 3, kv_heads = 2"):
        nn.Attention(32, 3, 2)


@pytest.mark.parametrize("bias", [False, True])
def test_linear_cross_entropy_is_a_head_and_its_loss(bias: bool) -> None:
    head = torch.nn.Linear(16, 30, bias)
    mine = nn.LinearCrossEntropy(16, 30, bias, z_loss=1e-3, shift=True)
    mine.load_state_dict(head.state_dict())
    x, ids = torch.randn(2, 5, 16, requires_grad=True), torch.randint(30, (2, 5))
    logits = head(x)[:, :-1]
    wanted = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    wanted = wanted + 1e-3 * logits.logsumexp(-1).square().mean()
    loss = mine(x, ids)
    torch.testing.assert_close(loss, wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        *(torch.autograd.grad(each, x)[0] for each in (loss, wanted)), rtol=1e-4, atol=1e-6
    )
    torch.testing.assert_close(mine.logits(x), head(x))
    with torch.autocast("cpu", torch.bfloat16):
        torch.testing.assert_close(mine(x, ids), wanted, rtol=2e-2, atol=0)


def test_cross_entropy_has_the_classes_last() -> None:
    logits, target = torch.randn(2, 3, 7), torch.tensor([[0, 1, -100], [6, 6, 2]])
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)
    wanted = F.cross_entropy(logits.movedim(-1, 1), target, label_smoothing=0.1)
    torch.testing.assert_close(loss(logits, target), wanted)
    assert "label_smoothing=0.1" in repr(loss)


def test_a_block_learns() -> None:
    """All of them together, as somebody writes a model: its loss falls."""

    class Block(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(20, 32)
            self.norm, self.last = fp.nn.RMSNorm(32, 1e-6), fp.nn.RMSNorm(32, 1e-6)
            self.attention = fp.nn.Attention(32, 4, 2, rotary=fp.nn.Rotary(8, max_positions=16))
            self.mlp = fp.nn.SwiGLU(32, 48)
            self.loss = fp.nn.LinearCrossEntropy(32, 20, shift=True)

        def forward(self, ids: torch.Tensor) -> torch.Tensor:
            x = self.embed(ids)
            x = x + self.attention(self.norm(x))
            return self.loss(self.last(x + self.mlp(x)), ids)

    torch.manual_seed(0)
    model, ids = Block().bfloat16(), torch.randint(20, (1, 12))
    optimizer = torch.optim.Adam(model.parameters(), 0.02)
    losses: list[float] = []
    for _ in range(12):
        loss = model(ids)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.4 * losses[0]
