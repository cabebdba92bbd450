"""`ops.reduce`: results, gradients, compilation, graphs."""

# Names are given as words that a type checker does not know, wrong ones among them.
# pyright: reportArgumentType=false

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.kernels.reduction.reference import torch_reduction
from tests.harness.operator_contract import (
    DEVICES,
    check_compiled,
    check_gradients,
    check_graph,
    check_operator,
)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("op", ["sum", "mean", "max", "argmax"])
def test_an_operator_is_one_in_every_sense(op: str, device: str) -> None:
    x = torch.randn(4, 3, 5, device=device)
    for dim in (None, 0, 1, -1):
        torch.testing.assert_close(ops.reduce(x, op, dim), torch_reduction(x, op, dim), rtol=1e-6, atol=1e-6)
    leaf = x[0].clone().requires_grad_(op != "argmax")
    check_operator("reduce", leaf, op)
    check_operator("reduce_rows", leaf, op)


@pytest.mark.parametrize("op", ["sum", "mean", "max"])
@pytest.mark.parametrize("dim", [None, 0, -1])
def test_gradients(op: str, dim: int | None) -> None:
    def reduced(x: Any) -> Any:
        return ops.reduce(x, op, dim)

    x = torch.arange(12.0).reshape(3, 4) * 0.7 + torch.rand(3, 4) * 0.1  # no two elements near each other
    check_gradients(reduced, x)
    check_compiled(reduced, x)


def test_elements_that_share_a_maximum_share_its_gradient() -> None:
    x: Any = torch.tensor([[1.0, 3.0, 3.0], [2.0, 0.0, 1.0]], requires_grad=True)
    loss: Any = ops.reduce(x, "max", -1).sum()
    loss.backward()
    assert x.grad.tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(FlashpathError, match="argmax"):
        ops.reduce(torch.ones(2), "median")
    with pytest.raises(FlashpathError, match="dim=2"):
        ops.reduce(torch.ones(2, 2), "sum", 2)


@pytest.mark.gpu
@pytest.mark.parametrize("dim", [None, -1])
def test_in_a_cuda_graph(dim: int | None) -> None:
    for op in ("sum", "argmax"):
        check_graph(functools.partial(ops.reduce, op=op, dim=dim), torch.randn(300, 4000, device="cuda"))
