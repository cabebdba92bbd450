"""softmax, layer_norm and rms_norm as operators."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

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


def torch_layer_norm(x: Any, weight: Any = None, bias: Any = None) -> Any:
    return F.layer_norm(x, (40,), weight, bias)


def torch_rms_norm(x: Any, weight: Any) -> Any:
    return F.rms_norm(x, (40,), weight, 1e-6)


@pytest.mark.parametrize("device", DEVICES)
def test_softmax(device: str) -> None:
    x = torch.randn(3, 4, 50, device=device)
    for dim in (-1, 1, 0):
        torch.testing.assert_close(ops.softmax(x, dim), torch.softmax(x, dim))
    torch.testing.assert_close(ops.softmax(x[0, 0, 0]), torch.ones((), device=device))
    long = torch.randn(2, 70_000, device=device)
    torch.testing.assert_close(ops.softmax(long), torch.softmax(long, -1))
    check_operator("softmax", x[0].clone().requires_grad_())
    check_operator("softmax_backward", torch.softmax(x[0], -1), torch.randn_like(x[0]))
    check_gradients(ops.softmax, x[0])
    check_compiled(ops.softmax, x[0])
    with pytest.raises(FlashpathError, match="dim=3"):
        ops.softmax(x, 3)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, None])
@pytest.mark.parametrize("given", [torch.bfloat16, torch.float32, torch.int64])
def test_softmax_in_another_type_is_torchs(given: torch.dtype, dtype: torch.dtype | None) -> None:
    if given == torch.int64 and dtype is None:
        with pytest.raises(FlashpathError, match="int64"):
            ops.softmax(torch.ones(3, dtype=given))
        return
    x = (torch.randn(3, 40) * 3).to(given)
    found: list[Any] = []
    for function in (ops.softmax, torch.softmax):
        leaf: Any = x.clone().requires_grad_(given.is_floating_point)
        out = function(leaf, 0, dtype)
        assert out.dtype == (dtype or given)
        found.append(
            [out.detach(), *(torch.autograd.grad(out.square().sum(), leaf) if leaf.requires_grad else ())]
        )
    torch.testing.assert_close(*found, rtol=2e-2, atol=1e-2 if torch.bfloat16 in (dtype, given) else 1e-6)


def test_softmax_in_float64_passes_gradcheck() -> None:
    x = torch.randn(3, 20, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(ops.softmax, (x,))


@pytest.mark.parametrize("device", DEVICES)
def test_layer_norm(device: str) -> None:
    x = torch.randn(2, 3, 40, device=device) + 1
    weight, bias = torch.randn(2, 40, device=device)
    for w, b in ((weight, bias), (None, None), (weight, None)):
        torch.testing.assert_close(ops.layer_norm(x, w, b), torch_layer_norm(x, w, b), rtol=1e-5, atol=1e-5)
    rows = x[0].clone().requires_grad_()
    check_operator("layer_norm", rows, weight, bias, 1e-5)
    check_operator("layer_norm", rows, None, None, 1e-5)
    check_gradients(ops.layer_norm, x, weight, bias)
    check_compiled(ops.layer_norm, x, weight, bias)
    _same_gradients(ops.layer_norm, torch_layer_norm, x, weight, bias)
    with pytest.raises(FlashpathError, match="last dimension"):
        ops.layer_norm(torch.ones(()))


@pytest.mark.parametrize("device", DEVICES)
def test_rms_norm(device: str) -> None:
    x, weight = torch.randn(2, 3, 40, device=device), torch.randn(40, device=device)
    for w in (weight, None):
        torch.testing.assert_close(ops.rms_norm(x, w), torch_rms_norm(x, w), rtol=1e-5, atol=1e-5)
    rows = x[0].clone().requires_grad_()
    check_operator("rms_norm", rows, weight, 1e-6)
    check_operator("rms_norm", rows, None, 1e-6)
    check_gradients(ops.rms_norm, x, weight)
    check_compiled(ops.rms_norm, x, weight)
    _same_gradients(ops.rms_norm, torch_rms_norm, x, weight)


@pytest.mark.parametrize("device", DEVICES)
def test_norms_without_a_gradient_keep_nothing_and_give_the_same_bits(device: str) -> None:
    x, weight, bias = (torch.randn(shape, device=device) for shape in ((3, 40), (40,), (40,)))
    check_operator("rms_norm_alone", x, weight, 1e-6)
    check_operator("layer_norm_alone", x, weight, bias, 1e-5)
    calls: list[tuple[Any, tuple[Any, ...]]] = [
        (ops.rms_norm, (x, weight)),
        (ops.layer_norm, (x, weight, bias)),
    ]
    for function, given in calls:
        kept = function(given[0].clone().requires_grad_(), *given[1:])
        for alone in (function(*given), _in_no_grad(function, *given)):
            assert torch.equal(alone, kept)
            assert not alone.requires_grad
        assert _called(function, *given) == [f"{function.__name__}_alone"]
        assert _called(function, given[0], given[1].clone().requires_grad_()) == [function.__name__]


def _in_no_grad(function: Any, x: Any, *rest: Any) -> Any:
    with torch.no_grad():
        return function(x.clone().requires_grad_(), *rest)


def _called(function: Any, *given: Any) -> list[str]:
    """The operators of ours that a call is made of."""

    class Names(TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()  # pyright: ignore[reportUnknownMemberType]
            self.names: list[str] = []

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func.namespace == "flashpath":
                self.names.append(func.__name__.removesuffix(".default"))
            return func(*args, **(kwargs or {}))

    with Names() as mode:
        function(*given)
    return mode.names


def _same_gradients(ours: Any, theirs: Any, *arguments: torch.Tensor) -> None:
    found: list[list[Any]] = []
    grad = torch.randn_like(arguments[0])
    for function in (ours, theirs):
        leaves = [each.clone().requires_grad_() for each in arguments]
        found.append(list(torch.autograd.grad(function(*leaves), leaves, grad)))
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_gradient_penalty_is_torchs(dtype: torch.dtype) -> None:
    """The gradient of the norm of a gradient, of every input and of the gradient that came from above."""
    x = (torch.randn(5, 40) + 1).to(dtype)
    weight, bias, above = torch.randn(40), torch.randn(40), torch.randn(5, 40).to(dtype)
    cases: list[tuple[Any, Any, tuple[Any, ...]]] = [
        (ops.softmax, functools.partial(torch.softmax, dim=-1), (x,)),
        (functools.partial(ops.softmax, dim=0), functools.partial(torch.softmax, dim=0), (x,)),
        (ops.layer_norm, torch_layer_norm, (x,)),
        (ops.layer_norm, torch_layer_norm, (x, weight, bias)),
        (ops.rms_norm, torch_rms_norm, (x, None)),
        (ops.rms_norm, torch_rms_norm, (x, weight)),
    ]
    for ours, theirs, given in cases:
        found = [_penalty(ours, above, *given)]
        # torch's own in float32: its norms want one type of all tensors, and round in between.
        wide = [None if each is None else each.float() for each in given]
        found.append(_penalty(theirs, above.float(), *wide))
        close: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-4}
        if dtype == torch.bfloat16:
            close = {"rtol": 5e-2, "atol": 0.1}
        for got, expected in zip(*found, strict=True):
            torch.testing.assert_close(got.float(), expected.float(), **close)


def _penalty(function: Any, above: Any, *given: Any) -> list[Any]:
    leaves = [None if each is None else each.clone().requires_grad_() for each in given]
    dy = above.clone().requires_grad_()
    wanted = [each for each in leaves if each is not None]
    first = torch.autograd.grad(function(*leaves), wanted, dy, create_graph=True)
    penalty: Any = sum(each.float().square().sum() for each in first)
    second = torch.autograd.grad(penalty, [*wanted, dy], allow_unused=True)
    return [*first, *(each for each in second if each is not None)]  # a bias has none


def test_softmax_in_float64_passes_gradgradcheck() -> None:
    x = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(ops.softmax, (x,))


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    x, weight = torch.randn(64, 4096, device="cuda", dtype=torch.bfloat16), torch.randn(4096, device="cuda")
    check_graph(ops.softmax, x)
    check_graph(ops.softmax, torch.randn(8, 200_000, device="cuda"))
    check_graph(ops.layer_norm, x, weight, weight)
    check_graph(ops.rms_norm, x, weight)
