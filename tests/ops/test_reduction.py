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
@pytest.mark.parametrize("op", ["sum", "mean", "max", "min", "argmax"])
def test_an_operator_is_one_in_every_sense(op: str, device: str) -> None:
    x = torch.randn(4, 3, 5, device=device)
    for dim in (None, 0, 1, -1):
        torch.testing.assert_close(ops.reduce(x, op, dim), torch_reduction(x, op, dim), rtol=1e-6, atol=1e-6)
    leaf = x[0].clone().requires_grad_(op != "argmax")
    check_operator("reduce", leaf, op)
    check_operator("reduce_rows", leaf, op)


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
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


def by_torch(x: Any, op: str, dim: Any, keepdim: bool) -> Any:
    name = {"max": "amax", "min": "amin"}.get(op, op)
    return getattr(torch, name)(x, dim, keepdim=keepdim)


SEVERAL = [(0,), (0, 1), (-1, 0), [1, 2], (0, 1, 2), (-3, -2, -1), (2, 0, 1)]


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dims", SEVERAL, ids=str)
@pytest.mark.parametrize("op", ["sum", "mean", "max", "min"])
def test_several_dimensions(op: str, dims: Any, keepdim: bool) -> None:
    x = torch.randn(4, 3, 5)
    found: list[Any] = []
    for function in (ops.reduce, by_torch):
        leaf = x.clone().requires_grad_()
        out = function(leaf, op, dims, keepdim)
        found.append([out.detach(), *torch.autograd.grad(out.square().sum(), leaf)])
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op", ["sum", "mean", "max", "min", "argmax"])
def test_dimensions_that_stay(op: str) -> None:
    x = torch.randint(-8, 9, (4, 3, 5)).float()  # sums are exact in any order
    for dim in (0, 1, -1):
        torch.testing.assert_close(
            ops.reduce(x, op, dim, True), by_torch(x, op, dim, True), rtol=1e-6, atol=0
        )
    assert ops.reduce(x, op, None, True).shape == (1, 1, 1)
    assert torch.equal(ops.reduce(x, op, None, keepdim=True).flatten()[0], ops.reduce(x, op))
    for shape in ((), (1,), (7,)):
        given = torch.randint(-8, 9, shape).float()
        torch.testing.assert_close(
            ops.reduce(given, op, -1, True), by_torch(given, op, -1, True), rtol=1e-6, atol=0
        )
    for dims in ((), None):
        assert torch.equal(ops.reduce(x, op, dims), ops.reduce(x, op))


def test_a_minimum_is_torchs_also_of_nan_and_whole_numbers() -> None:
    for x in (
        torch.tensor([[3.0, float("nan"), -1.0], [float("inf"), float("inf"), float("inf")]]),
        torch.tensor([[7, 2**31 - 1, -5], [2**31 - 1] * 3], dtype=torch.int32),
        torch.tensor([[float("-inf"), 0.0, -0.0], [1.0, 2.0, 3.0]], dtype=torch.bfloat16),
    ):
        torch.testing.assert_close(ops.reduce(x, "min", -1), x.amin(-1), rtol=0, atol=0, equal_nan=True)
        torch.testing.assert_close(ops.reduce(x, "min"), x.amin(), rtol=0, atol=0, equal_nan=True)


def test_compiled_along_several_dimensions() -> None:
    reduced = functools.partial(ops.reduce, op="min", dim=(0, 2), keepdim=True)
    check_compiled(reduced, torch.randn(4, 3, 5))


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
