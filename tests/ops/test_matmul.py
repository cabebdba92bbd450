"""`ops.matmul` as an operator."""

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


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_products_and_their_gradients(device: str, dtype: torch.dtype) -> None:
    a, b = (torch.randn(shape, device=device, dtype=dtype) for shape in ((40, 30), (30, 50)))
    precise: dict[str, Any] = (
        {"rtol": 1e-5, "atol": 1e-5} if dtype == torch.float32 else {"rtol": 2e-2, "atol": 2e-2}
    )
    expected = (a.double() @ b.double()).to(dtype)
    torch.testing.assert_close(ops.matmul(a, b), expected, **precise)
    torch.testing.assert_close(ops.matmul(b.t(), a.t()), expected.t(), **precise)
    leaves = [each.clone().requires_grad_() for each in (a, b)]
    grad = torch.randn_like(expected)
    da, db = torch.autograd.grad(ops.matmul(*leaves), leaves, grad)
    torch.testing.assert_close(da, (grad.double() @ b.double().t()).to(dtype), **precise)
    torch.testing.assert_close(db, (a.double().t() @ grad.double()).to(dtype), **precise)


@pytest.mark.parametrize("device", DEVICES)
def test_an_operator_in_every_sense(device: str) -> None:
    a, b = (torch.randn(shape, device=device) for shape in ((20, 12), (12, 9)))
    check_operator("matmul", a.clone().requires_grad_(), b)
    check_gradients(ops.matmul, a, b)
    check_compiled(ops.matmul, a, b)


def test_in_float64_it_passes_gradcheck() -> None:
    a, b = (torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((4, 5), (5, 3)))
    assert torch.autograd.gradcheck(ops.matmul, (a, b))


def test_shapes_that_do_not_fit_are_refused() -> None:
    shapes = (((2,), (3,)), ((2, 3), (2, 3)), ((), (2,)), ((2, 3, 4), (3, 4, 2)), ((2, 3, 4), (2, 3, 4)))
    for a, b in ((torch.ones(shape), torch.ones(other)) for shape, other in shapes):
        with pytest.raises(FlashpathError, match=r"\(m, k\)"):
            ops.matmul(a, b)


# ---- Batches -------------------------------------------------------------------------------------------

BATCHES = [
    ((4,), (4,)),
    ((4,), (4, 3)),
    ((5, 4), (4,)),
    ((2, 5, 4), (4, 3)),
    ((2, 5, 4), (4,)),
    ((4,), (2, 4, 3)),
    ((5, 4), (2, 4, 3)),
    ((2, 5, 4), (2, 4, 3)),
    ((3, 1, 5, 4), (2, 4, 3)),
    ((1, 5, 4), (2, 3, 4, 6)),
    ((2, 0, 4), (2, 4, 3)),
    ((2, 5, 0), (2, 0, 3)),
    ((0, 5, 4), (0, 4, 3)),
]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shapes", BATCHES, ids=str)
def test_batches_broadcast_as_torchs(shapes: Any, dtype: torch.dtype) -> None:
    a, b = (torch.randn(shape, dtype=dtype) for shape in shapes)
    near: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-5}
    if dtype == torch.bfloat16:
        near = {"rtol": 2e-2, "atol": 2e-2}
    exact = torch.matmul(a.double(), b.double())
    torch.testing.assert_close(ops.matmul(a, b), exact.to(dtype), **near)
    found: list[Any] = []
    dout = torch.randn(exact.shape, dtype=dtype)
    for function, kind in ((ops.matmul, dtype), (torch.matmul, torch.float64)):
        leaves = [each.to(kind).clone().requires_grad_() for each in (a, b)]
        found.append(torch.autograd.grad(function(*leaves), leaves, dout.to(kind)))
    torch.testing.assert_close(found[0], tuple(each.to(dtype) for each in found[1]), **near)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_transposed_batch_is_read_as_it_lies(dtype: torch.dtype) -> None:
    a, b = torch.randn(3, 20, 40, dtype=dtype), torch.randn(3, 24, 20, dtype=dtype)
    with fp.watch() as reports:
        product = ops.matmul(a.mT, b.mT)
    assert len(reports) == 1
    expected = (a.mT.double() @ b.mT.double()).to(dtype)
    torch.testing.assert_close(product, expected, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("device", DEVICES)
def test_many_products_are_an_operator_in_every_sense(device: str) -> None:
    a, b = (torch.randn(shape, device=device) for shape in ((2, 6, 12), (2, 12, 9)))
    check_operator("bmm", a.clone().requires_grad_(), b)
    check_gradients(ops.matmul, a, b)
    check_compiled(ops.matmul, a, b[:1])
    doubles = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in ((2, 4, 5), (5, 3))]
    assert torch.autograd.gradcheck(ops.matmul, doubles)
    assert torch.autograd.gradgradcheck(ops.matmul, doubles)


def test_a_large_product_on_the_cpu_is_told() -> None:
    from flashpath.ops.registration import SLOW_PRODUCTS_ON_CPU, tell_if_slow

    with pytest.warns(ops.SlowOnCpu, match="virtual GPU"):
        tell_if_slow("matmul", torch.empty(10), products=SLOW_PRODUCTS_ON_CPU + 1)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_in_a_cuda_graph(dtype: torch.dtype) -> None:
    check_graph(ops.matmul, *(torch.randn(512, 512, device="cuda", dtype=dtype) for _ in range(2)))
