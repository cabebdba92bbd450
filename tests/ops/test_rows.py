"""softmax, layer_norm and rms_norm as operators."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from operator_contract import DEVICES, check_compiled, check_gradients, check_graph, check_operator

from flashpath import ops
from flashpath.errors import FlashpathError

F: Any = torch.nn.functional


def torch_layer_norm(x: Any, weight: Any, bias: Any) -> Any:
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


def _same_gradients(ours: Any, theirs: Any, *arguments: torch.Tensor) -> None:
    found: list[list[Any]] = []
    grad = torch.randn_like(arguments[0])
    for function in (ours, theirs):
        leaves = [each.clone().requires_grad_() for each in arguments]
        found.append(list(torch.autograd.grad(function(*leaves), leaves, grad)))
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    x, weight = torch.randn(64, 4096, device="cuda", dtype=torch.bfloat16), torch.randn(4096, device="cuda")
    check_graph(ops.softmax, x)
    check_graph(ops.softmax, torch.randn(8, 200_000, device="cuda"))
    check_graph(ops.layer_norm, x, weight, weight)
    check_graph(ops.rms_norm, x, weight)
