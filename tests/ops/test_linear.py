"""`ops.linear`: bias, activation and residual after a product, with gradients."""

# pyright: basic, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import pytest
import torch

import flashpath as fp
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
LINEAR: Any = ops.linear
ACTIVATIONS = (None, "relu", "gelu", "silu")
PARTS = [(False, False), (True, False), (False, True), (True, True)]


def arguments(
    dtype: Any = torch.bfloat16,
    *,
    bias: bool = True,
    residual: bool = True,
    lead: tuple[int, ...] = (2, 9),
    sizes: tuple[int, int] = (24, 40),
    device: str = "cpu",
) -> list[Any]:
    k, n = sizes
    generator = torch.Generator().manual_seed(k * n)
    shapes = ((*lead, k), (n, k), (n,) if bias else None, (*lead, n) if residual else None)
    return [
        None if shape is None else torch.randn(shape, generator=generator).to(device, dtype)
        for shape in shapes
    ]


def by_torch(x: Any, weight: Any, bias: Any, residual: Any, activation: str | None) -> Any:
    z = F.linear(x, weight, bias)
    z = z if activation is None else getattr(F, activation)(z)
    return z if residual is None else z + residual


def call(given: list[Any], activation: str | None) -> Any:
    x, weight, bias, residual = given
    return LINEAR(x, weight, bias, activation, residual)


def wide(given: list[Any]) -> list[Any]:
    return [None if each is None else each.detach().double() for each in given]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize(("bias", "residual"), PARTS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_it_is_torchs(dtype: Any, bias: bool, residual: bool, activation: str | None) -> None:
    given = arguments(dtype, bias=bias, residual=residual)
    exact = by_torch(*wide(given), activation)
    got = call(given, activation)
    assert got.dtype == dtype
    error = (got.double() - exact).abs()
    if dtype.itemsize == 2:  # in one kernel, rounded once
        assert bool((error <= 1.001 * torch.finfo(dtype).eps / 2 * exact.abs() + 2e-5).all())
    else:
        assert float(error.max()) < (1e-12 if dtype == torch.float64 else 2e-5)


@pytest.mark.parametrize("lead", [(), (1,), (0,), (7,), (2, 3, 5)], ids=str)
def test_any_leading_dimensions(lead: tuple[int, ...]) -> None:
    given = arguments(lead=lead)
    expected = by_torch(*wide(given), "silu").bfloat16()
    torch.testing.assert_close(call(given, "silu"), expected, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("sizes", [(1, 1), (7, 5), (0, 8), (64, 64)], ids=str)
def test_any_sizes(sizes: tuple[int, int]) -> None:
    given = arguments(sizes=sizes)
    expected = by_torch(*wide(given), "gelu").bfloat16()
    torch.testing.assert_close(call(given, "gelu"), expected, rtol=2e-2, atol=2e-2)


def test_half_types_take_one_launch_and_no_copy() -> None:
    for activation in ACTIVATIONS:
        with fp.watch() as reports:
            call(arguments(), activation)
        assert len(reports) == 1


def test_a_weight_may_lie_the_other_way_round() -> None:
    given = arguments()
    given[1] = given[1].t().contiguous().t()
    expected = by_torch(*wide(given), "relu").bfloat16()
    torch.testing.assert_close(call(given, "relu"), expected, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_gradients(dtype: Any, activation: str | None) -> None:
    given = arguments(dtype)
    dout = torch.randn(2, 9, 40).to(dtype)
    found: list[Any] = []
    for function, kind in ((call, dtype), (lambda g, a: by_torch(*g, a), torch.float64)):
        leaves = [each.to(kind).clone().requires_grad_() for each in given]
        found.append(torch.autograd.grad(function(leaves, activation), leaves, dout.to(kind)))
    near = {"rtol": 3e-2, "atol": 6e-2} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-4}
    torch.testing.assert_close(found[0], tuple(each.to(dtype) for each in found[1]), **near)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("activation", [None, "gelu"])
def test_an_operator_in_every_sense(activation: str | None, device: str) -> None:
    x, weight, bias, residual = arguments(torch.float32, lead=(5,), sizes=(6, 8), device=device)
    leaves = [each.clone().requires_grad_() for each in (x, weight, bias)]
    check_operator("linear", *leaves, activation or "none", residual)
    check_gradients(lambda x, w, b, r: LINEAR(x, w, b, activation, r), x, weight, bias, residual)
    check_compiled(lambda x, w, b, r: LINEAR(x, w, b, activation, r), x, weight, bias, residual)


def test_in_float64_it_passes_gradcheck() -> None:
    given = [each.requires_grad_() for each in arguments(torch.float64, lead=(3,), sizes=(4, 5))]
    for activation in (None, "silu"):
        function = lambda *given, activation=activation: call([*given], activation)  # noqa: E731
        assert torch.autograd.gradcheck(function, given)
        assert torch.autograd.gradgradcheck(function, given)


WRONG: dict[str, tuple[Any, str]] = {
    "inner sizes": (lambda x, w, b, r: LINEAR(x, w[:, :5]), r"\(…, k\) and \(n, k\)"),
    "no matrix": (lambda x, w, b, r: LINEAR(x, w[0]), r"\(n, k\)"),
    "a short bias": (lambda x, w, b, r: LINEAR(x, w, b[:3]), r"bias of shape \(3,\)"),
    "another type": (lambda x, w, b, r: LINEAR(x, w.half()), "weight of float16"),
    "a bias of another type": (lambda x, w, b, r: LINEAR(x, w, b.float()), "bias of shape .*float32"),
    "a small residual": (lambda x, w, b, r: LINEAR(x, w, b, None, r[:1]), "residual of shape"),
    "a word": (lambda x, w, b, r: LINEAR(x, w, b, "tanh"), "activation 'tanh'"),
    "none as a word": (lambda x, w, b, r: LINEAR(x, w, b, "none"), "activation 'none'"),
    "integers": (lambda x, w, b, r: LINEAR(x.int(), w.int()), "linear got matrices of int32"),
    "no tensor": (lambda x, w, b, r: LINEAR(x, [w]), "linear got weight = "),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused_is_told(what: str) -> None:
    function, words = WRONG[what]
    with pytest.raises(FlashpathError, match=words):
        function(*arguments())


@pytest.mark.gpu
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_in_a_cuda_graph(activation: str | None) -> None:
    given = arguments(lead=(256,), sizes=(512, 512), device="cuda")
    check_graph(lambda x, w, b, r: LINEAR(x, w, b, activation, r), *given)
