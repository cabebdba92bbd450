"""add_rms_norm and add_layer_norm, and norms with weights that are stored less one or of another type."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from tests.harness.operator_contract import (
    DEVICES,
    check_compiled,
    check_gradients,
    check_graph,
    check_operator,
)

F: Any = torch.nn.functional


def torch_add_rms_norm(x: Any, residual: Any, weight: Any = None, offset: float = 0.0) -> Any:
    total = x + residual
    return F.rms_norm(total, (40,), None if weight is None else offset + weight, 1e-6), total


def torch_add_layer_norm(x: Any, residual: Any, weight: Any = None, bias: Any = None) -> Any:
    total = x + residual
    return F.layer_norm(total, (40,), weight, bias), total


PAIRS: dict[str, tuple[Any, Any, int]] = {  # ours, torch's, and how many vectors they take
    "add_rms_norm": (ops.add_rms_norm, torch_add_rms_norm, 1),
    "add_rms_norm 1 + weight": (
        functools.partial(ops.add_rms_norm, weight_offset=1.0),
        functools.partial(torch_add_rms_norm, offset=1.0),
        1,
    ),
    "add_layer_norm": (ops.add_layer_norm, torch_add_layer_norm, 2),
}
SCHEMAS = {"add_rms_norm": (1, 1e-6), "add_layer_norm": (2, 1e-5)}


def drawn(count: int, device: str = "cpu", dtype: torch.dtype = torch.float32) -> list[Any]:
    """x and a residual, and so many vectors."""
    generator = torch.Generator().manual_seed(count)
    shapes = [(2, 3, 40)] * 2 + [(40,)] * count
    return [torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PAIRS)
def test_the_norm_of_a_sum_and_the_sum(name: str, device: str) -> None:
    ours, theirs, count = PAIRS[name]
    given = drawn(count, device)
    for arguments in (given, given[:2], [x.transpose(0, 1) for x in given[:2]] + given[2:]):
        normed, total = ours(*arguments)
        expected = theirs(*arguments)
        torch.testing.assert_close(normed, expected[0], rtol=1e-5, atol=1e-5)
        assert torch.equal(total, expected[1])
    check_gradients(ours, *given)
    check_compiled(ours, *given)


@pytest.mark.parametrize("name", SCHEMAS)
def test_they_are_torch_operators(name: str) -> None:
    count, eps = SCHEMAS[name]
    x, residual, *vectors = drawn(count)
    rows, others = x[0].clone().requires_grad_(), residual[0].clone().requires_grad_()
    check_operator(name, rows, others, *vectors, eps)
    check_operator(name, rows, others, *([None] * count), eps)
    check_operator(f"{name}_alone", x[0], residual[0], *vectors, eps)
    statistics = [torch.rand(3) + 1 for _ in range(count)]
    flag = (0.0,) if name == "add_rms_norm" else (True,)
    for added in (residual[0], None):
        check_operator(f"{name}_backward", x[0], added, x[0], vectors[0], *statistics, *flag)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", PAIRS)
def test_gradients_whichever_result_is_used(name: str, dtype: torch.dtype) -> None:
    """Of the norm alone, of the sum alone, and of both: torch's, in float32."""
    ours, theirs, count = PAIRS[name]
    given, above = drawn(count, dtype=dtype), drawn(0, dtype=dtype)
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == torch.float32 else {"rtol": 2e-2, "atol": 5e-2}
    for used in ([0], [1], [0, 1]):
        found: list[Any] = []
        for function, kind in ((ours, dtype), (theirs, torch.float32)):
            leaves = [each.to(kind).requires_grad_() for each in given]
            results = function(*leaves)
            loss = sum((results[i].float() * above[i].float()).sum() for i in used)
            found.append(torch.autograd.grad(loss, leaves, allow_unused=True))
        for got, expected in zip(*found, strict=True):
            assert (got is None or not bool(got.any())) == (expected is None or not bool(expected.any()))
            if got is not None and expected is not None:
                torch.testing.assert_close(got.float(), expected, **close)


@pytest.mark.parametrize("name", PAIRS)
def test_a_gradient_penalty_is_torchs(name: str) -> None:
    ours, theirs, count = PAIRS[name]
    found: list[Any] = []
    for function in (ours, theirs):
        leaves = [each.clone().requires_grad_() for each in drawn(count)]
        normed, total = function(*leaves)
        first = torch.autograd.grad((normed**3).sum() + (total**2).sum(), leaves, create_graph=True)
        penalty: Any = sum(each.square().sum() for each in first)
        second = torch.autograd.grad(penalty, leaves, allow_unused=True)  # a bias has none
        found.append([*first, *(each for each in second if each is not None)])
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-3)


def test_x_may_be_its_own_residual() -> None:
    x = drawn(0)[0].requires_grad_()
    (got,) = torch.autograd.grad(ops.add_rms_norm(x, x)[0].pow(3).sum(), x)
    (expected,) = torch.autograd.grad(torch_add_rms_norm(x, x)[0].pow(3).sum(), x)
    torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PAIRS)
def test_without_a_gradient_the_bits_are_the_same(name: str) -> None:
    ours, _, count = PAIRS[name]
    given = drawn(count, dtype=torch.bfloat16)
    kept = ours(given[0].clone().requires_grad_(), *given[1:])
    for alone, with_gradient in zip(ours(*given), kept, strict=True):
        assert torch.equal(alone, with_gradient)
        assert not alone.requires_grad


@pytest.mark.parametrize("shape", [(0, 8), (4, 0), (2, 0, 8)])
def test_nothing(shape: tuple[int, ...]) -> None:
    x, weight = torch.zeros(shape, requires_grad=True), torch.ones(shape[-1], requires_grad=True)
    for function in (ops.add_rms_norm, ops.add_layer_norm):
        normed, total = function(x, x, weight)
        assert normed.shape == total.shape == shape
        dx, dweight = torch.autograd.grad(normed.sum() + total.sum(), (x, weight))
        assert dx.shape == shape
        assert torch.equal(dweight, torch.zeros(shape[-1]))


def test_nan_spoils_its_row_alone() -> None:
    x, residual = drawn(0)
    x[0, 1, 7] = float("nan")
    for function in (ops.add_rms_norm, ops.add_layer_norm):
        normed, total = function(x, residual)
        assert normed[0, 1].isnan().all()
        assert normed.isnan().sum() == 40
        assert total.isnan().sum() == 1


# ---- Weights stored less one, and of another type --------------------------------------------------------


@pytest.mark.parametrize("device", DEVICES)
def test_rms_norm_with_weights_stored_less_one(device: str) -> None:
    x, _, weight = drawn(1, device)
    ours = functools.partial(ops.rms_norm, weight_offset=1.0)
    torch.testing.assert_close(ours(x, weight), F.rms_norm(x, (40,), 1 + weight, 1e-6), rtol=1e-5, atol=1e-5)
    check_gradients(ours, x, weight)
    check_compiled(ours, x, weight)
    check_operator("rms_norm", x[0].clone().requires_grad_(), weight, 1e-6, 1.0)
    assert torch.equal(ours(x), ops.rms_norm(x))
    half = weight.bfloat16()  # 1 + w in bfloat16 would lose what a small w says
    exact = F.rms_norm(x.double(), (40,), 1 + half.double(), 1e-6)
    torch.testing.assert_close(ours(x, half).double(), exact, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
def test_layer_norm_with_weights_stored_less_one(device: str) -> None:
    x, _, weight = drawn(1, device)
    bias = torch.randn(40, device=device)
    ours = functools.partial(ops.layer_norm, weight_offset=1.0)
    exact = F.layer_norm(x, (40,), 1 + weight, bias)
    torch.testing.assert_close(ours(x, weight, bias), exact, rtol=1e-5, atol=1e-5)
    check_gradients(ours, x, weight, bias)
    check_compiled(ours, x, weight, bias)
    assert torch.equal(ours(x), ops.layer_norm(x))
    x, weight, bias = (each.bfloat16() for each in (x, weight, bias))
    wide = F.layer_norm(x.double(), (40,), 1 + weight.double(), bias.double())
    assert ours(x, weight, bias).dtype == torch.bfloat16
    torch.testing.assert_close(ours(x, weight, bias).double(), wide, rtol=1e-2, atol=1e-2)


def test_a_gradient_penalty_with_weights_stored_less_one() -> None:
    x, _, weight = drawn(1)
    found: list[Any] = []
    for function in (
        lambda x, w: ops.rms_norm(x, w, 1e-6, 1.0),
        lambda x, w: F.rms_norm(x, (40,), 1 + w, 1e-6),
    ):
        leaves = [x.clone().requires_grad_(), weight.clone().requires_grad_()]
        first = torch.autograd.grad((function(*leaves) ** 3).sum(), leaves, create_graph=True)
        penalty: Any = sum(each.square().sum() for each in first)
        found.append([*first, *torch.autograd.grad(penalty, leaves)])
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_float32_rows_with_half_weights(kind: torch.dtype) -> None:
    x, residual, weight, bias = drawn(2)
    weight, bias = weight.to(kind), bias.to(kind)
    calls: list[tuple[Any, Any, list[Any]]] = [
        (ops.rms_norm, lambda x, w: F.rms_norm(x, (40,), w, 1e-6), [weight]),
        (ops.layer_norm, lambda x, w, b: F.layer_norm(x, (40,), w, b), [weight, bias]),
    ]
    for ours, theirs, vectors in calls:
        found: list[Any] = []
        for function, vectors_of in ((ours, vectors), (theirs, [each.float() for each in vectors])):
            leaves = [x.clone().requires_grad_(), *(each.clone().requires_grad_() for each in vectors_of)]
            out = function(*leaves)
            found.append([out, *torch.autograd.grad(out.pow(3).sum(), leaves)])
        assert [each.dtype for each in found[0]] == [torch.float32] * 2 + [kind] * len(vectors)
        for got, expected in zip(*found, strict=True):
            close = 1e-4 if got.dtype == torch.float32 else 2**-7
            torch.testing.assert_close(got.float(), expected, rtol=close, atol=close)
        check_compiled(ours, x, *vectors)
    assert ops.add_layer_norm(x, residual, weight, bias)[0].dtype == torch.float32


# ---- At the border ---------------------------------------------------------------------------------------


def test_wrong_arguments_are_told() -> None:
    x, residual, weight = drawn(1)
    for call, says in [
        (lambda: ops.add_rms_norm(x, residual[:1], weight), "residual of shape"),
        (lambda: ops.add_layer_norm(x, residual[..., :1]), "expand_as"),
        (lambda: ops.add_rms_norm(x, residual.half(), weight), "residual"),
        (lambda: ops.add_rms_norm(x, 1.0), "residual = 1.0"),
        (lambda: ops.add_rms_norm(x, residual, weight, None), "eps = None"),
        (lambda: ops.add_rms_norm(x, residual, weight, 1e-6, 0.5), "weight_offset = 0.5"),
        (lambda: ops.rms_norm(x, weight, weight_offset=2), "weight_offset = 2"),
        (lambda: ops.layer_norm(x, weight, weight_offset=2), "layer_norm got weight_offset = 2"),
        (lambda: ops.layer_norm(x, weight[:3], weight_offset=1.0), "layer_norm got weight"),
        (lambda: ops.rms_norm(x, weight, weight_offset="1"), "weight_offset = '1'"),
        (lambda: ops.add_layer_norm(torch.ones(()), torch.ones(())), "last dimension"),
    ]:
        with pytest.raises(FlashpathError, match=says):
            call()


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    x, residual = (torch.randn(64, 4096, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    weight = torch.randn(4096, device="cuda")
    check_graph(ops.add_rms_norm, x, residual, weight)
    check_graph(ops.add_layer_norm, x, residual, weight, weight)
    check_graph(functools.partial(ops.rms_norm, weight_offset=1.0), x, weight.bfloat16())
