"""What other libraries call below flash-attn's functions: the entry points of its extension."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch

from flashpath.compat.flash_attn import (
    flash_attn_func,
    flash_attn_interface,
    flash_attn_varlen_func,
    flash_attn_with_kvcache,
)
from flashpath.compat.flash_attn.flash_attn_interface import (
    USE_TRITON_ROCM,
    _flash_attn_backward,
    _flash_attn_forward,
    _flash_attn_varlen_backward,
    _flash_attn_varlen_forward,
    flash_attn_gpu,
)
from flashpath.errors import FlashpathError

HALF = torch.float16
OPTIONS = "window_size_left window_size_right softcap alibi_slopes"
# As flash-attn 2.8 has them, in order; num_splits is newer.
SIGNATURES = {
    "_flash_attn_forward": f"q k v dropout_p softmax_scale causal {OPTIONS} return_softmax",
    "_flash_attn_varlen_forward": (
        "q k v cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p softmax_scale causal "
        f"{OPTIONS} return_softmax block_table leftpad_k seqused_k zero_tensors num_splits"
    ),
    "_flash_attn_backward": (
        "dout q k v out softmax_lse dq dk dv dropout_p softmax_scale causal "
        f"{OPTIONS} deterministic rng_state"
    ),
    "_flash_attn_varlen_backward": (
        "dout q k v out softmax_lse dq dk dv cu_seqlens_q cu_seqlens_k max_seqlen_q max_seqlen_k dropout_p "
        f"softmax_scale causal {OPTIONS} deterministic rng_state zero_tensors"
    ),
}


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    return request.param


def random(*shape: int, seed: int = 0, device: str = "cpu") -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(device, HALF)


def bounds(*lengths: int, device: str = "cpu") -> Any:
    ends = torch.tensor([0, *lengths]).cumsum(0)
    return ends.to(device, torch.int32)


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures(name: str) -> None:
    function = getattr(flash_attn_interface, name)
    assert list(inspect.signature(function).parameters) == SIGNATURES[name].split()
    assert not USE_TRITON_ROCM


@pytest.mark.parametrize("dim", [16, 20])
@pytest.mark.parametrize("dropout_p", [0.0, 0.3])
def test_forward_and_backward_by_hand_are_autograds(dim: int, dropout_p: float, device: str) -> None:
    """The first query sees nothing: its lse is +inf here, and -inf within."""
    q, dout = (random(2, 9, 4, dim, seed=each, device=device) for each in (0, 3))
    k, v = (random(2, 8, 2, dim, seed=each, device=device) for each in (1, 2))
    options = (0.25, True, -1, 0, 5.0, None)
    out, lse, probabilities, seed = _flash_attn_forward(q, k, v, dropout_p, *options, bool(dropout_p))
    assert lse.shape == (2, 4, 9)
    assert bool((lse[:, :, 0] == torch.inf).all())
    assert probabilities.shape == ((2, 4, 128, 128) if dropout_p else (0,))  # rounded up, as flash-attn does

    asked = [each.clone().requires_grad_() for each in (q, k, v)]
    if dropout_p:
        from flashpath import ops

        direct = ops.attention(
            *(torch.nn.functional.pad(each, (0, -dim % 8)) for each in asked),
            causal=True,
            softcap=5.0,
            scale=0.25,
            dropout_p=dropout_p,
            dropout_seed=seed,
        )[..., :dim]
    else:
        direct = flash_attn_func(*asked, 0.0, 0.25, True, softcap=5.0)
    assert torch.equal(out, direct)
    wanted = torch.autograd.grad(direct, asked, dout)

    given = [torch.full_like(each, torch.nan) for each in (q, k, v)]
    delta = _flash_attn_backward(dout, q, k, v, out, lse, *given, dropout_p, *options, True, seed)
    for got, exact in zip(given, wanted, strict=True):
        torch.testing.assert_close(got, exact, rtol=0, atol=2e-3)
    assert delta.shape == (2, 4, 128)
    sums = (dout.float() * out.float()).sum(-1).transpose(1, 2)
    torch.testing.assert_close(delta[:, :, :9], sums, rtol=1e-5, atol=1e-5)

    own = flash_attn_gpu.bwd(
        *(
            dout,
            q,
            k,
            v,
            out,
            lse,
            None,
            None,
            None,
            None,
            dropout_p,
            0.25,
            True,
            -1,
            0,
            5.0,
            True,
            None,
            seed,
        )
    )
    assert all(torch.equal(got, made) for got, made in zip(given, own[:3], strict=True))


def test_the_seed_brings_the_same_weights_back(device: str) -> None:
    q, k, v = (random(1, 40, 1, 16, seed=each, device=device) for each in range(3))
    options = (0.5, 0.25, False, -1, -1, 0.0, None, False)
    out, lse, _, seed = _flash_attn_forward(q, k, v, *options)
    again, _, _, other = _flash_attn_forward(q, k, v, *options)
    assert not torch.equal(seed, other)
    assert not torch.equal(out, again)
    with pytest.raises(FlashpathError, match="no rng_state"):
        _flash_attn_backward(q, q, k, v, out, lse, None, None, None, *options[:-1], True, None)


@pytest.mark.parametrize("used", [None, (3, 0, 6)])
def test_sequences_in_a_row(used: tuple[int, ...] | None, device: str) -> None:
    """`seqused_k`: of the keys of each sequence, only so many."""
    cu_q, cu_k = bounds(2, 1, 4, device=device), bounds(5, 2, 6, device=device)
    q, dout = (random(7, 2, 16, seed=each, device=device) for each in (0, 3))
    k, v = (random(13, 2, 16, seed=each, device=device) for each in (1, 2))
    seqused = None if used is None else torch.tensor(used, dtype=torch.int32, device=device)
    out, lse, _, seed = _flash_attn_varlen_forward(
        q, k, v, cu_q, cu_k, 4, 6, 0.0, 0.25, False, seqused_k=seqused
    )
    rows = range(13) if used is None else [0, 1, 2, *range(7, 13)]
    lengths = (5, 2, 6) if used is None else used
    asked = [each.requires_grad_() for each in (q.clone(), k[list(rows)], v[list(rows)])]
    exact, exact_lse, _ = flash_attn_varlen_func(
        *asked, cu_q, bounds(*lengths, device=device), 4, 6, 0.0, 0.25, return_attn_probs=True
    )
    assert torch.equal(out, exact)
    assert torch.equal(lse, exact_lse)
    if used is None:
        given = [torch.full_like(each, torch.nan) for each in (q, k, v)]
        delta = _flash_attn_varlen_backward(
            *(dout, q, k, v, out, lse, *given, cu_q, cu_k, 4, 6, 0.0, 0.25, False),
            deterministic=True,
            rng_state=seed,
        )
        for got, wanted in zip(given, torch.autograd.grad(exact, asked, dout), strict=True):
            torch.testing.assert_close(got, wanted, rtol=0, atol=2e-3)
        assert delta.shape == (2, 7)


@pytest.mark.parametrize("queries", [1, 3])
def test_pages(queries: int, device: str) -> None:
    """One query for each sequence is a step of decoding; more are gathered first."""
    lengths = torch.tensor([300, 512], dtype=torch.int32, device=device)
    pages = [random(4, 256, 2, 16, seed=each, device=device) for each in (1, 2)]
    table = torch.tensor([[2, 0], [3, 1]], dtype=torch.int32, device=device)
    q = random(2 * queries, 4, 16, device=device)
    cu_q = bounds(queries, queries, device=device)
    cu_k = bounds(300, 512, device=device)
    call = (q, *pages, cu_q, cu_k, queries, 512, 0.0, 0.25, False)
    out = _flash_attn_varlen_forward(*call, block_table=table, seqused_k=lengths)[0]
    same = _flash_attn_varlen_forward(*call, block_table=table, seqused_k=lengths, num_splits=0)[0]
    assert torch.equal(out, same)
    rows = [
        torch.cat([page[table[0].long()].flatten(0, 1)[:300], page[table[1].long()].flatten(0, 1)])
        for page in pages
    ]
    exact = _flash_attn_varlen_forward(q, *rows, cu_q, cu_k, queries, 512, 0.0, 0.25, False)[0]
    torch.testing.assert_close(out, exact, rtol=0, atol=2e-3)
    with pytest.raises(RuntimeError, match="num_splits > 1 is not supported"):
        _flash_attn_varlen_forward(*call, block_table=table, seqused_k=lengths, num_splits=2)
    with pytest.raises(RuntimeError, match="leftpad_k"):
        _flash_attn_varlen_forward(*call, block_table=table, leftpad_k=lengths)


def test_a_generator_is_refused(device: str) -> None:
    q, k, v = (random(1, 1, heads, 8, device=device) for heads in (2, 1, 1))
    lse, bad = torch.randn(1, 2, 1, device=device), torch.empty(1, device=device)
    options = (0.0, 0.3, True, -1, -1, 0.0, False, bad)
    cu = bounds(1, device=device)
    flat = [each[0] for each in (q, k, v)]
    nothing = (None, None, None)
    varlen = (1, 1, 0.0, 0.3, False, True, -1, -1, 0.0, False, bad)
    calls = [
        lambda: flash_attn_gpu.fwd(q, k, v, None, None, *options),
        lambda: flash_attn_gpu.bwd(q, q, k, v, q, lse, *nothing, None, *options, None),
        lambda: flash_attn_gpu.varlen_fwd(*flat, None, cu, cu, *nothing, None, *varlen, 0),
        lambda: flash_attn_gpu.varlen_bwd(
            flat[0], *flat, flat[0], lse, *nothing, cu, cu, None, *varlen, None
        ),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match=r"generator` argument is no longer supported"):
            call()


@pytest.mark.parametrize("new", [0, 1])
def test_lengths_beyond_the_block_table(new: int, device: str) -> None:
    pages = [random(4, 256, 1, 16, seed=each, device=device) for each in (0, 1)]
    q = random(1, 1, 1, 16, device=device)
    table = torch.zeros(1, 1, dtype=torch.int32, device=device)
    added = (q, q) if new else (None, None)

    def step(length: int, *added: Any) -> Any:
        lengths = torch.tensor([length], dtype=torch.int32, device=device)
        return flash_attn_with_kvcache(q, *pages, *added, cache_seqlens=lengths, block_table=table)

    for _ in range(3):  # whatever a plan knows by then
        assert not step(256).isnan().any()
        with pytest.raises(RuntimeError, match="block_table of 1 column"):
            step(257 - new, *added)
    with pytest.raises(TypeError):
        flash_attn_with_kvcache(q, block_table=table)
