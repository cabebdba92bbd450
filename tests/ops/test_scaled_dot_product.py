"""`scaled_dot_product_attention` gives what torch's function does, in its layout and alignment."""

# pyright: basic, reportArgumentType=false

from __future__ import annotations

import inspect
from typing import Any

import pytest
import torch
from torch.nn.attention.bias import causal_lower_right, causal_upper_left

import flashpath as fp
from flashpath.errors import FlashpathError
from tests.harness.operator_contract import DEVICES, check_compiled, check_graph

OURS: Any = fp.scaled_dot_product_attention
TORCHS: Any = torch.nn.functional.scaled_dot_product_attention
HALF = torch.bfloat16


def drawn(*shapes: tuple[int, ...], dtype: Any = HALF, device: str = "cpu") -> list[Any]:
    generator = torch.Generator().manual_seed(sum(map(sum, shapes)))
    return [torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes]


def qkv(
    queries: int = 20,
    keys: int = 20,
    heads: int = 4,
    kv_heads: int = 4,
    dim: int = 16,
    v_dim: int = 0,
    device: str = "cpu",
) -> list[Any]:
    shapes = (2, heads, queries, dim), (2, kv_heads, keys, dim), (2, kv_heads, keys, v_dim or dim)
    return drawn(*shapes, device=device)


def assert_near(given: list[Any], got: Any, **options: Any) -> None:
    """At most twice the error of torch's own in the half type, plus a small term: values and gradients."""
    exact = TORCHS(*(x.detach().double() for x in given), **options)
    of_torch = TORCHS(*(x.detach() for x in given), **options)
    assert got.shape == of_torch.shape
    assert got.dtype == of_torch.dtype
    error = (got.detach().double() - exact).abs().max()
    assert float(error) <= 2 * float((of_torch.double() - exact).abs().max()) + 4e-3


def assert_gradients_near(given: list[Any], **options: Any) -> None:
    dout = torch.randn(OURS(*given, **options).shape)
    found: dict[str, Any] = {}
    for name, function, dtype in (
        ("ours", OURS, HALF),
        ("torch", TORCHS, HALF),
        ("exact", TORCHS, torch.double),
    ):
        leaves = [x.detach().to(dtype).requires_grad_() for x in given]
        found[name] = torch.autograd.grad(function(*leaves, **options), leaves, dout.to(leaves[0]))
    for ours, theirs, exact in zip(*found.values(), strict=True):
        allowed = 2 * (theirs.double() - exact).abs().max() + 1e-2
        assert float((ours.double() - exact).abs().max()) <= float(allowed)


CASES: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "full": (qkv(), {}),
    "causal": (qkv(), {"is_causal": True}),
    "causal, fewer queries": (qkv(9, 30), {"is_causal": True}),
    "causal, more queries": (qkv(30, 9), {"is_causal": True}),
    "grouped": (qkv(heads=6, kv_heads=2), {"enable_gqa": True, "is_causal": True}),
    "a scale": (qkv(7, 12), {"scale": 0.5}),
    "an odd dimension": (qkv(dim=20, v_dim=12), {"is_causal": True}),
    "one query": (qkv(1, 33), {}),
    "two dimensions": (drawn((5, 16), (7, 16), (7, 16)), {}),
    "three dimensions": (drawn((3, 5, 16), (3, 7, 16), (3, 7, 16)), {"is_causal": True}),
    "five dimensions": (drawn(*[(2, 3, 2, 5, 16)] * 3), {}),
    "a batch that broadcasts": (drawn((2, 4, 5, 16), (1, 4, 7, 16), (2, 4, 7, 16)), {}),
    "one head for all": (drawn((2, 4, 5, 16), (2, 1, 7, 16), (2, 1, 7, 16)), {}),
    "sequence before heads": ([x.transpose(1, 2) for x in drawn(*[(2, 9, 4, 16)] * 3)], {"is_causal": True}),
}


def test_its_signature_is_torchs() -> None:
    assert str(inspect.signature(OURS)).startswith(
        "(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor"
    )
    parameters = {name: each.default for name, each in inspect.signature(OURS).parameters.items()}
    assert list(parameters)[:3] == ["query", "key", "value"]
    assert list(parameters.items())[3:] == [
        ("attn_mask", None),
        ("dropout_p", 0.0),
        ("is_causal", False),
        ("scale", None),
        ("enable_gqa", False),
    ]


@pytest.mark.parametrize("name", CASES)
def test_it_gives_what_torch_gives(name: str) -> None:
    given, options = CASES[name]
    assert_near(given, OURS(*given, **options), **options)


@pytest.mark.parametrize(
    "name", ["causal, fewer queries", "causal, more queries", "grouped", "an odd dimension"]
)
def test_gradients_are_torchs(name: str) -> None:
    given, options = CASES[name]
    assert_gradients_near(given, **options)


@pytest.mark.parametrize(("queries", "keys"), [(9, 30), (20, 20), (30, 9)])
def test_a_causal_bias_says_where_it_is_aligned(queries: int, keys: int) -> None:
    given = qkv(queries, keys)
    upper = OURS(*given, attn_mask=causal_upper_left(queries, keys))
    assert torch.equal(upper, OURS(*given, is_causal=True))
    lower = OURS(*given, attn_mask=causal_lower_right(queries, keys))
    expected = fp.attention(*(x.transpose(1, 2) for x in given), causal=True).transpose(1, 2)
    assert torch.equal(lower, expected)
    if queries < keys:
        assert not torch.equal(lower, upper)


def test_autocast_casts_what_torch_casts() -> None:
    given = [x.float().requires_grad_() for x in qkv()]
    for dtype in (torch.bfloat16, torch.float16):
        with torch.autocast("cpu", dtype):
            out = OURS(*given, is_causal=True)
            assert out.dtype == TORCHS(*given, is_causal=True).dtype == dtype
        plain = OURS(*(x.to(dtype) for x in given), is_causal=True)
        assert torch.equal(out, plain)
        gradients = torch.autograd.grad(out.float().sum(), given)
        assert all(each.dtype == torch.float32 for each in gradients)
    with torch.autocast("cpu", torch.bfloat16), pytest.raises(FlashpathError, match="float64 for query"):
        OURS(*(x.detach().double() for x in given))


def test_dropout_comes_from_torchs_generator() -> None:
    given = qkv()

    def dropped() -> Any:
        torch.manual_seed(11)
        return OURS(*given, dropout_p=0.5)

    assert torch.equal(dropped(), dropped())
    assert not torch.equal(dropped(), OURS(*given))


@pytest.mark.parametrize("device", DEVICES)
def test_compiled_in_one_graph(device: str) -> None:
    given = qkv(9, 30, heads=6, kv_heads=2, dim=20, device=device)
    check_compiled(lambda q, k, v: OURS(q, k, v, is_causal=True, enable_gqa=True), *given)


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    check_graph(lambda q, k, v: OURS(q, k, v, is_causal=True), *qkv(64, 64, dim=64, device="cuda"))


Q, K, V = qkv()
WRONG: dict[str, tuple[Any, str]] = {
    "a mask": (lambda: OURS(Q, K, V, torch.ones(20, 20).bool()), r"\(20, 20\), bool[\s\S]*attention_varlen"),
    "a bias": (lambda: OURS(Q, K, V, torch.zeros(20, 20)), "score_mod"),
    "a list as a mask": (lambda: OURS(Q, K, V, [1]), r"attn_mask = \[1\]"),
    "two masks": (lambda: OURS(Q, K, V, causal_upper_left(20, 20), 0.0, True), "attn_mask and is_causal"),
    "a bias of another size": (lambda: OURS(Q, K, V, causal_upper_left(4, 20)), r"\(4, 20\) for 20 queries"),
    "float32": (lambda: OURS(Q.float(), K.float(), V.float()), r"float32 for query[\s\S]*autocast"),
    "two types": (lambda: OURS(Q, K.half(), V), "key of float16"),
    "other dimensions": (lambda: OURS(Q, K[0], V), "shapes"),
    "one dimension": (lambda: OURS(Q[0, 0, 0], K[0, 0, 0], V[0, 0, 0]), "two dimensions"),
    "another dim": (lambda: OURS(Q, K[..., :8], V), "one dim"),
    "other keys": (lambda: OURS(Q, K, V[:, :, :4]), "one sequence"),
    "batches": (lambda: OURS(Q[[0, 1, 1]], K, V), "broadcasts"),
    "heads": (lambda: OURS(Q, K[:, :2], V[:, :2]), "4 heads of query, 2 of key"),
    "groups": (lambda: OURS(Q, K[:, :3], V[:, :3], enable_gqa=True), "multiple"),
    "a wide head": (lambda: OURS(*drawn(*[(1, 1, 2, 264)] * 3)), "heads of 264"),
    "all dropped": (lambda: OURS(Q, K, V, dropout_p=1.0), "scaled_dot_product_attention got dropout_p"),
    "a word": (lambda: OURS(Q, K, V, is_causal="yes"), "is_causal = 'yes'"),
    "no scale": (lambda: OURS(Q, K, V, scale="a"), "scaled_dot_product_attention got scale = 'a'"),
    "no tensor": (lambda: OURS(None, K, V), "got query = None"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused_is_told(what: str) -> None:
    call, words = WRONG[what]
    with pytest.raises(FlashpathError, match=words):
        call()
