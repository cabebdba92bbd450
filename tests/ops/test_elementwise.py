"""Elementwise operators: results, gradients, compilation, graphs."""

# Names are given as words that a type checker does not know, wrong ones among them.
# pyright: reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.kernels.elementwise.reference import TORCH
from flashpath.ops.registration import SLOW_ON_CPU, tell_if_slow
from tests.harness.operator_contract import (
    DEVICES,
    check_compiled,
    check_gradients,
    check_graph,
    check_operator,
)

ACTIVATIONS = ("relu", "gelu", "gelu_tanh", "silu")


def _chain(x: Any, factor: float, y: Any) -> Any:
    return ops.scale_add_activation(x, factor, y, "gelu")


# name → (public function, operands after x)
OPERATORS: dict[str, tuple[Callable[..., Any], Callable[[Any], tuple[Any, ...]]]] = {
    **{name: (getattr(ops, name), lambda _: ()) for name in ACTIVATIONS},
    **{
        name: (getattr(ops, name), lambda _: ())
        for name in ("silu_and_mul", "gelu_and_mul", "gelu_tanh_and_mul")
    },
    "scale": (ops.scale, lambda _: (0.7,)),
    **{
        name: (getattr(ops, name), lambda x: (torch.randn_like(x),))
        for name in ("add", "swiglu", "geglu", "geglu_tanh")
    },
    "clamp": (ops.clamp, lambda _: (-0.5, 0.75)),
    "scale_add_gelu": (_chain, lambda x: (0.7, torch.randn_like(x))),
}


def arguments(
    name: str, device: str, dtype: torch.dtype = torch.float32, shape: tuple[int, ...] = (5, 12)
) -> Any:
    x = torch.randn(shape, device=device, dtype=dtype)
    x += 0.1 * x.sign()  # away from the kink at 0, and of those of clamp
    x[(x.abs() - 0.5).abs() < 0.1] = 0.3
    x[(x - 0.75).abs() < 0.1] = 1.0
    return x, *OPERATORS[name][1](x)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_is_one_in_every_sense(name: str, device: str) -> None:
    function = OPERATORS[name][0]
    given = arguments(name, device)
    torch.testing.assert_close(function(*given), TORCH[name](*given), rtol=1e-5, atol=1e-6)
    leaf = given[0].clone().requires_grad_()
    check_operator(name, leaf, *given[1:])
    check_gradients(function, *given)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["gelu", "add", "silu_and_mul", "swiglu", "scale_add_gelu"])
def test_compiled_in_one_graph(name: str, device: str) -> None:
    check_compiled(OPERATORS[name][0], *arguments(name, device))


@pytest.mark.parametrize("name", OPERATORS)
def test_gradients_are_torchs_also_in_half_precision(name: str) -> None:
    given = arguments(name, "cpu", torch.bfloat16)
    x, again = (given[0].clone().requires_grad_() for _ in range(2))
    weight = torch.randn(OPERATORS[name][0](*given).shape, dtype=torch.bfloat16)
    (OPERATORS[name][0](x, *given[1:]) * weight).sum().backward()
    (TORCH[name](again, *given[1:]) * weight).sum().backward()
    torch.testing.assert_close(x.grad, again.grad, rtol=2e-2, atol=2e-2)


def test_views_are_taken_as_they_are() -> None:
    x = torch.randn(6, 8).t()
    torch.testing.assert_close(ops.relu(x), torch.relu(x))
    torch.testing.assert_close(ops.add(x, x), 2 * x)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(FlashpathError, match="gelu_tanh"):
        ops.scale_add_activation(torch.ones(2), 1.0, torch.ones(2), "swish")
    with pytest.raises(FlashpathError, match="must have shape"):
        ops.add(torch.ones(2), torch.ones(3))


def test_a_large_tensor_on_the_cpu_is_told() -> None:
    with pytest.warns(ops.SlowOnCpu, match=r"x\.cuda\(\)"):
        tell_if_slow("relu", torch.empty(SLOW_ON_CPU + 1))


@pytest.mark.parametrize("name", OPERATORS)
def test_gradients_are_torchs_at_odd_values(name: str) -> None:
    given = arguments(name, "cpu", shape=(6, 8))
    given[0][-1, -1] = -2.0
    given[0].view(-1)[::6] = torch.tensor([float("nan"), 0.0, -0.0, 1e30, -1e30, float("nan"), 0.5, 0.75])
    gradients: list[Any] = []
    for function in (OPERATORS[name][0], TORCH[name]):
        x = given[0].clone().requires_grad_()
        y = function(x, *given[1:])
        above = torch.arange(1.0, y.numel() + 1)
        above[-1] = float("inf")
        gradients.append(torch.autograd.grad(y, x, above.reshape(y.shape))[0])
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("name", OPERATORS)
def test_a_gradient_has_a_gradient(name: str) -> None:
    given = arguments(name, "cpu")
    differentiate: Any = torch.autograd.grad
    found: list[Any] = []
    for function in (OPERATORS[name][0], TORCH[name]):
        x = given[0].clone().requires_grad_()
        dx = differentiate((function(x, *given[1:]) * x[:, :1]).sum(), x, create_graph=True)[0]
        found.append(differentiate(dx.square().sum(), x)[0])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("name", OPERATORS)
def test_in_a_cuda_graph(name: str) -> None:
    check_graph(OPERATORS[name][0], *arguments(name, "cuda", torch.bfloat16, (33, 128)))
