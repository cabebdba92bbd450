"""What the operators of attention say to arguments that they do not take."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import gc
from typing import Any

import pytest
import torch
import triton
import triton.language as tl

import flashpath as fp
from flashpath.kernels.attention.score_mod import ScoreMod


def random(*shape: int) -> Any:
    return torch.randn(shape).bfloat16()


def whole(*numbers: int) -> Any:
    return torch.tensor(numbers, dtype=torch.int32)


@triton.jit
def of_four(score, batch, head, query):
    return score


@triton.jit
def no_self(score, batch, head, query, key):
    return tl.where(query == key, float("-inf"), score)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"window": (1.5, 0)}, r"window.*\(left, right\)"),
        ({"window": 3}, r"window.*\(left, right\)"),
        ({"window": (1, 2, 3)}, r"window.*\(left, right\)"),
        ({"causal": "yes"}, "causal.*True or False"),
        ({"alibi_slopes": [1.0]}, "alibi_slopes.*tensor"),
        ({"sinks": [1.0, 2.0]}, "sinks.*tensor"),
        ({"dropout_p": 0.1, "dropout_seed": 3}, "dropout_seed.*tensor"),
        ({"backend": 3}, "backend.*reference"),
        ({"softcap": float("inf")}, "softcap"),
        ({"score_mod": lambda *given: given[0]}, "triton.jit function of .score, batch, head, query, key"),
        ({"score_mod": "score * 2"}, "triton.jit function"),
        ({"score_mod": of_four}, "triton.jit function of .score, batch, head, query, key"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
def test_options(options: dict[str, Any], says: str) -> None:
    q = random(1, 8, 2, 16)
    with pytest.raises(fp.FlashpathError, match=f"(?s){says}"):
        fp.attention(q, q, q, **options)


@pytest.mark.parametrize(
    ("cu_q", "cu_k", "longest", "says"),
    [
        ((0, 10), (0, 40), 40, "cu_seqlens_q.*30 tokens"),
        ((5, 30), (0, 40), 40, "begin with 0"),
        ((0, 20, 10, 30), (0, 1, 2, 40), 40, "never fall"),
        ((0, 30), (0, 50), 50, "cu_seqlens_k.*40 tokens"),
        ((0,), (0,), 40, "30 tokens"),
        ((0, 30), (0, 40), 0, "max_seqlen_q = 0, and a sequence of 30"),
        ((0, 30), (0, 40), -1, "0 or more"),
        ((0, 30), (0, 40), 30.0, "whole number"),
        ((0, 30), (0, 40), None, "whole number"),
    ],
    ids=str,
)
def test_bounds_of_sequences(cu_q: tuple[int, ...], cu_k: tuple[int, ...], longest: Any, says: str) -> None:
    q, k = random(30, 2, 16), random(40, 2, 16)
    with pytest.raises(fp.FlashpathError, match=f"(?s){says}"):
        fp.attention_varlen(q, k, k, whole(*cu_q), whole(*cu_k), longest, 50)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"cache_seqlens": whole(16, 3), "k": random(2, 1, 1, 16), "v": random(2, 1, 1, 16)}, "leave room"),
        ({"cache_seqlens": whole(-1, 3)}, "0 or more"),
        ({"cache_seqlens": whole(17, 3)}, "cache of 16"),
        ({"cache_seqlens": [3, 3]}, "cache_seqlens.*tensor"),
        ({"cache_seqlens": whole(2, 3), "cache_leftpad": whole(3, 0)}, "cache_leftpad"),
        ({"cache_seqlens": whole(2, 3), "page_table": whole(0, 9).reshape(2, 1)}, "page_table.*0 to 1"),
        ({"cache_seqlens": whole(2, 3), "cache_batch_idx": whole(0, 7)}, "cache_batch_idx.*0 to 1"),
        ({"cache_seqlens": whole(2, 3), "num_splits": 1.5}, "num_splits.*whole number"),
        ({"cache_seqlens": whole(2, 3), "window": 3}, r"window.*\(left, right\)"),
    ],
    ids=lambda value: value if isinstance(value, str) else ",".join(value),
)
@pytest.mark.parametrize("backend", [None, "reference"])
def test_numbers_of_a_cache(options: dict[str, Any], says: str, backend: str | None) -> None:
    cache = random(2, 16, 1, 16)
    before = cache.clone()
    with pytest.raises(fp.FlashpathError, match=f"(?s){says}"):
        fp.attention_decode(random(2, 1, 1, 16), cache, cache, backend=backend, **options)
    assert torch.equal(cache, before)


@pytest.mark.parametrize("backend", ["cuda", "triton"])
def test_a_gradient_of_lse_that_is_no_dense_tensor(backend: str) -> None:
    inputs = [random(1, 20, 2, 16).requires_grad_() for _ in range(3)]
    grads = []
    for name in (backend, "reference"):
        _, lse = fp.attention(*inputs, causal=True, return_lse=True, backend=name)
        grads.append(torch.autograd.grad(lse.sum(), inputs[:2]))  # its gradient is one number, expanded
    for ours, exact in zip(*grads, strict=True):
        torch.testing.assert_close(ours, exact, rtol=2e-2, atol=2e-2)


def test_a_score_mod_made_in_place_lives_until_its_gradient() -> None:
    inputs = [random(1, 20, 2, 16).requires_grad_() for _ in range(3)]
    mod = {"cuda": "score * 2.0f", "cuda_derivative": "2.0f"}
    out = fp.attention(*inputs, score_mod=ScoreMod("twice", **mod))
    gc.collect()
    twice = fp.attention(*inputs, scale=2 * 16**-0.5)
    for got, exact in zip(
        torch.autograd.grad(out.sum(), inputs), torch.autograd.grad(twice.sum(), inputs), strict=True
    ):
        torch.testing.assert_close(got, exact, rtol=2e-2, atol=2e-2)


def test_a_function_of_ones_own_compiles() -> None:
    q, k, v = (random(1, 20, 2, 16) for _ in range(3))
    call = torch.compile(lambda *x: fp.attention(*x, score_mod=no_self), fullgraph=True, backend="aot_eager")
    assert torch.equal(call(q, k, v), fp.attention(q, k, v, score_mod=no_self))


@triton.jit
def without_a_name(score, batch, head, query, key):
    return score + no_such_name  # noqa: F821  # pyright: ignore


@triton.jit
def of_rows(score, batch, head, query, key):
    return tl.sum(score, 1)


@pytest.mark.parametrize(
    ("mod", "says"),
    [
        (without_a_name, "score_mod 'without_a_name'.*no_such_name is not defined.*line 2, `return score"),
        (of_rows, "score_mod 'of_rows'.*of the shape of `score`"),
        (
            ScoreMod("steep", triton=no_self, triton_derivative=without_a_name),
            "score_mod 'steep'.*no_such_name",
        ),
    ],
    ids=["of no name", "of rows", "derivative"],
)
def test_what_triton_cannot_compile_is_said_of_the_score_mod(mod: Any, says: str) -> None:
    q, k, v = (random(1, 20, 2, 16).requires_grad_() for _ in range(3))
    with pytest.raises(fp.FlashpathError, match=f"(?s){says}"):
        fp.attention(q, k, v, score_mod=mod).sum().backward()
    if isinstance(mod, ScoreMod):
        return
    with pytest.raises(fp.FlashpathError, match=f"(?s){says}"):
        fp.attention_decode(q[:, :1].detach(), k.detach(), v.detach(), cache_seqlens=20, score_mod=mod)


# ---- Which operator it was -------------------------------------------------------------------------------


def decode(*tensors: Any, **more: Any) -> Any:
    return fp.attention_decode(*tensors, cache_seqlens=1, **more)


def varlen(*tensors: Any, **more: Any) -> Any:
    return fp.attention_varlen(*tensors, whole(0, 8), whole(0, 8), 8, 8, **more)


@pytest.mark.parametrize(
    ("call", "tensors", "options", "says"),
    [
        (varlen, [(1, 8, 2, 16)] * 3, {}, r"attention_varlen got q of shape \(1, 8, 2, 16\)"),
        (varlen, [(8, 2, 16), (8, 2, 24), (8, 2, 24)], {}, "attention_varlen got q .*k and v must agree"),
        (varlen, [(8, 3, 16), (8, 2, 16), (8, 2, 16)], {}, "attention_varlen got 3 heads of q and 2"),
        (varlen, [(8, 2, 12)] * 3, {}, "attention_varlen got a head dimension of 12 for q and k"),
        (varlen, [(8, 2, 16)] * 3, {"softcap": -1.0}, "attention_varlen got softcap"),
        (varlen, [(8, 2, 16)] * 3, {"backend": "cudnn"}, "attention_varlen got backend"),
        (varlen, [(8, 2, 16)] * 3, {"alibi_slopes": torch.zeros(3)}, "attention_varlen got alibi_slopes"),
        (decode, [(8, 2, 16), (1, 8, 2, 16), (1, 8, 2, 16)], {}, "attention_decode got q of shape"),
        (decode, [(1, 1, 2, 16), (8, 2, 16), (8, 2, 16)], {}, "attention_decode got k_cache of shape"),
        (decode, [(1, 1, 2, 16), (1, 8, 2, 16), (1, 9, 2, 16)], {}, "k_cache and v_cache must agree"),
        (decode, [(1, 1, 3, 16), (1, 8, 2, 16), (1, 8, 2, 16)], {}, "2 of k_cache and v_cache"),
        (decode, [(1, 1, 2, 16), (0, 8, 2, 16), (0, 8, 2, 16)], {}, "a cache of 0 sequences and 1 of q"),
        (decode, [(1, 8, 2, 16)] * 3, {"scale": float("nan")}, "attention_decode got scale"),
        (decode, [(1, 8, 2, 16)] * 3, {"sinks": torch.zeros(9)}, "attention_decode got sinks"),
        (decode, [(1, 8, 2, 16)] * 3, {"backend": 3}, "attention_decode got backend.*reference"),
        (
            decode,
            [(1, 8, 2, 16)] * 3,
            {"k": random(1, 2), "v": random(1, 2)},
            r"attention_decode got k of shape \(1, 2\).*\(1, new, 2, 16\)",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_errors_name_the_operator_and_its_arguments(
    call: Any, tensors: list[tuple[int, ...]], options: dict[str, Any], says: str
) -> None:
    with pytest.raises(fp.FlashpathError, match=f"(?s){says}"):
        call(*(random(*shape) for shape in tensors), **options)


@pytest.mark.parametrize("length", [-1, 2**31, True])
def test_a_length_of_a_cache_that_is_none(length: Any) -> None:
    x = random(1, 8, 2, 16)
    with pytest.raises(fp.FlashpathError, match=r"(?s)cache_seqlens.*whole number"):
        fp.attention_decode(x, x, x, cache_seqlens=length)


def test_the_reference_looks_at_bounds_too() -> None:
    x = random(8, 2, 16)
    with pytest.raises(fp.FlashpathError, match="max_seqlen_q = 3, and a sequence of 8"):
        fp.attention_varlen(x, x, x, whole(0, 8), whole(0, 8), 3, 8, backend="reference")


# ---- Addresses, lengths and devices that kernels could not live with ---------------------------------------


def at_odd_address(*shape: int) -> Any:
    """Contiguous, 2 bytes behind a multiple of 16."""
    return random(int(torch.Size(shape).numel()) + 1)[1:].view(shape)


@pytest.mark.parametrize("backend", [None, "triton", "cuda"])
def test_contiguous_tensors_at_odd_addresses(backend: str | None) -> None:
    odd, z = at_odd_address(1, 8, 2, 16), random(1, 8, 2, 16)
    for given in ((odd, z, z), (z, odd, z), (z, z, odd)):
        expected = fp.attention(*(each.clone() for each in given), backend=backend)
        assert torch.equal(fp.attention(*given, backend=backend), expected)
    q = z.clone().requires_grad_()
    grads = [
        torch.autograd.grad(fp.attention(q, z, z, backend=backend), q, dout)[0] for dout in (odd, odd.clone())
    ]
    assert torch.equal(*grads)


@pytest.mark.parametrize("backend", [None, "triton", "cuda"])
def test_decoding_at_odd_addresses(backend: str | None) -> None:
    odd, cache = at_odd_address(1, 8, 2, 16), random(1, 32, 2, 16)
    given = {
        "q": odd,
        "k": odd,
        "v": odd,
        "rotary_cos": at_odd_address(32, 8),
        "rotary_sin": at_odd_address(32, 8),
    }
    outs = [
        fp.attention_decode(
            **tensors, k_cache=cache.clone(), v_cache=cache.clone(), cache_seqlens=9, backend=backend
        )
        for tensors in (given, {name: x.clone() for name, x in given.items()})
    ]
    assert torch.equal(*outs)


def test_a_cache_at_an_odd_address_is_not_copied() -> None:
    q, cache = random(1, 1, 2, 16), at_odd_address(1, 32, 2, 16)
    expected = fp.attention_decode(q, cache.clone(), cache.clone(), cache_seqlens=9, backend="triton")
    assert torch.equal(fp.attention_decode(q, cache, cache, cache_seqlens=9), expected)
    with pytest.raises(fp.FlashpathError, match=r"(?s)multiples of 16 bytes.*triton"):
        fp.attention_decode(q, cache, cache, cache_seqlens=9, backend="cuda")


@pytest.mark.parametrize("backend", [None, "triton", "reference"])
@pytest.mark.parametrize("longest", [2**31 - 1, 2**40, 2**70])
def test_longest_sequences_longer_than_all_tokens(backend: str | None, longest: int) -> None:
    q, k, v = (random(n, heads, 16).requires_grad_() for n, heads in ((20, 4), (30, 2), (30, 2)))
    bounds = whole(0, 5, 5, 20), whole(0, 10, 17, 30)
    got, expected = (
        torch.autograd.grad(
            fp.attention_varlen(q, k, v, *bounds, *most, backend=backend, deterministic=True).float().sum(),
            (q, k, v),
        )
        for most in ((longest, longest), (15, 13))
    )
    assert all(torch.equal(*each) for each in zip(got, expected, strict=True))


def test_merged_states_are_on_one_device() -> None:
    out, lse = random(1, 4, 2, 16), torch.zeros(1, 2, 4)
    for given in ((out, lse, out, lse.to("meta")), (out, lse.to("meta"), out, lse)):
        with pytest.raises(fp.FlashpathError, match=r"(?s)_lse on meta.*one device"):
            fp.ops.merge_states(*given)
    with pytest.raises(fp.FlashpathError, match="b on meta"):
        fp.ops.merge_states(out, lse, out.to("meta"), lse)


@pytest.mark.parametrize("backend", [None, "triton", "reference"])
def test_rotary_tables_have_every_position(backend: str | None) -> None:
    q, cache = random(2, 2, 2, 16), random(2, 32, 2, 16)

    def step(positions: int, **options: Any) -> Any:
        tables = {"rotary_cos": random(positions, 8), "rotary_sin": random(positions, 8)}
        return fp.attention_decode(
            q, cache, cache, cache_seqlens=whole(20, 30), backend=backend, **tables, **options
        )

    with pytest.raises(fp.FlashpathError, match=r"(?s)of 8 positions.*31 or more"):
        step(8)
    step(31)  # all queries at the position of the next key
    with pytest.raises(fp.FlashpathError, match="32 or more"):
        step(31, causal=True)
    with pytest.raises(fp.FlashpathError, match="32 or more"):
        step(31, k=random(2, 2, 2, 16), v=random(2, 2, 2, 16))
    step(32, causal=True)


def test_the_reference_is_exact_at_large_scores() -> None:
    q = torch.full((1, 4, 1, 16), 200.0).half()
    assert torch.equal(fp.attention(q, q, q, scale=1.0, backend="reference"), q)


# ---- What has no gradient ----------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", [None, "triton", "reference"])
def test_slopes_have_no_gradient(backend: str | None) -> None:
    q, slopes = random(1, 8, 2, 16), torch.ones(2, requires_grad=True)
    with pytest.raises(fp.FlashpathError, match=r"(?s)alibi_slopes.*gradient.*detach"):
        fp.attention(q, q, q, alibi_slopes=slopes, backend=backend)
    fp.attention(q, q, q, alibi_slopes=slopes.detach(), backend=backend)
    with torch.no_grad():
        fp.attention(q, q, q, alibi_slopes=slopes, backend=backend)


@pytest.mark.parametrize("backend", [None, "triton", "reference"])
def test_decoding_takes_all_as_detached(backend: str | None) -> None:
    q, k, v = (random(1, 1, 2, 16) for _ in range(3))
    caches = random(1, 32, 2, 16), random(1, 32, 2, 16)
    slopes = torch.ones(2)

    def step(requires: bool) -> Any:
        tensors = [x.clone().requires_grad_(requires) for x in (q, *caches, k, v, slopes)]
        out = fp.attention_decode(
            *tensors[:3],
            cache_seqlens=9,
            k=tensors[3],
            v=tensors[4],
            alibi_slopes=tensors[5],
            backend=backend,
        )
        assert not out.requires_grad
        return [out, *(x.detach() for x in tensors[1:3])]

    got, expected = step(True), step(False)
    assert all(torch.equal(*each) for each in zip(got, expected, strict=True))
    assert torch.equal(got[1][:, 9:10], k)


# ---- Numbers and forms that are torch's errors otherwise ---------------------------------------------------


@pytest.mark.parametrize("backend", [None, "triton", "reference"])
@pytest.mark.parametrize("window", [(-1, 2**63), (2**31 - 1, 2**31 - 1), (2**70, 0)])
def test_windows_wider_than_any_sequence(backend: str | None, window: tuple[int, int]) -> None:
    q = random(1, 40, 2, 16)
    expected = fp.attention(q, q, q, causal=window[1] == 0, backend=backend)
    assert torch.allclose(fp.attention(q, q, q, window=window, backend=backend), expected, atol=1e-2)


def test_windows_below_no_bound() -> None:
    q = random(1, 8, 2, 16)
    with pytest.raises(fp.FlashpathError, match=r"(?s)window = \(-42391.*or -1 for no bound"):
        fp.attention(q, q, q, window=(-(9**30), 0))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("layout", [torch.strided, torch.jagged])
def test_nested_tensors(layout: torch.layout) -> None:
    q = torch.nested.nested_tensor([random(8, 2, 16), random(4, 2, 16)], layout=layout)
    with pytest.raises(fp.FlashpathError, match=r"(?s)nested.*to_padded_tensor"):
        fp.attention(q, q, q)


@pytest.mark.parametrize(
    ("forms", "says"),
    [
        ({}, "no form"),
        ({"torch": lambda score: score}, "(?s)torch = .*function of .score, batch"),
        ({"torch": 3}, "(?s)torch = 3.*function of .score, batch"),
        ({"cuda": "score", "torch_derivative": lambda score: score}, "torch_derivative = "),
    ],
)
def test_score_mods_are_looked_at_when_made(forms: dict[str, Any], says: str) -> None:
    with pytest.raises(fp.FlashpathError, match=says):
        ScoreMod("mine", **forms)


@pytest.mark.parametrize("returns", [lambda s: None, lambda s: s[..., :1], lambda s: 1.0])
def test_what_a_score_mod_gives(returns: Any) -> None:
    q = random(1, 8, 2, 16)
    mod = ScoreMod("mine", torch=lambda score, *place: returns(score))
    with pytest.raises(fp.FlashpathError, match=r"(?s)'mine' gave .* scores of shape \(2, 8, 8\)"):
        fp.attention(q, q, q, score_mod=mod, backend="reference")
