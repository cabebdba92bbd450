"""scan, sort, histogram and spmv as operators."""

from __future__ import annotations

import functools
from typing import Any

import pytest
import torch
from operator_contract import DEVICES, check_compiled, check_gradients, check_graph, check_operator

from flashpath import ops
from flashpath.errors import FlashpathError


@pytest.mark.parametrize("device", DEVICES)
def test_scan(device: str) -> None:
    x = torch.randn(3, 4, 20, device=device)
    for dim in (-1, 0, 1):
        torch.testing.assert_close(ops.scan(x, dim=dim), x.cumsum(dim), rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(ops.scan(x, "max", dim=dim), x.cummax(dim).values)
    vector = torch.randn(500, device=device)
    torch.testing.assert_close(ops.scan(vector), vector.cumsum(0), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        ops.scan(vector, exclusive=True), vector.cumsum(0) - vector, rtol=1e-4, atol=1e-4
    )
    for op in ("sum", "max"):
        for exclusive in (False, True):
            check_operator("scan", x[0].clone().requires_grad_(), op, exclusive)
    with pytest.raises(FlashpathError, match="max"):
        ops.scan(x, "min")
    with pytest.raises(FlashpathError, match="dim=4"):
        ops.scan(x, dim=4)


@pytest.mark.parametrize("op", ["sum", "max"])
@pytest.mark.parametrize("exclusive", [False, True])
def test_gradients_of_scan(op: str, exclusive: bool) -> None:
    x = torch.randn(7) if op == "sum" else torch.tensor([0.0, 1.0, -1.0, 2.5, 1.5, 4.0, 3.0])

    def scanned(x: Any) -> Any:
        # An exclusive maximum starts with -inf, which no difference is taken of.
        return ops.scan(x, op, exclusive)[int(exclusive and op == "max") :]

    check_gradients(scanned, x)
    check_compiled(scanned, x)


@pytest.mark.parametrize("device", DEVICES)
def test_sort(device: str) -> None:
    x = torch.randn(1000, device=device)
    values, indices = ops.sort(x, return_indices=True)
    expected = torch.sort(x, stable=True)
    assert torch.equal(values, expected.values)
    assert torch.equal(indices, expected.indices)
    assert torch.equal(ops.sort(x), expected.values)
    check_operator("sort_keys", x)
    check_operator("sort", x.clone().requires_grad_())
    check_gradients(ops.sort, torch.tensor([3.0, -1.0, 2.0, 7.0, 0.5], device=device))
    check_compiled(functools.partial(ops.sort, return_indices=True), x[:50])
    with pytest.raises(FlashpathError, match="flatten"):
        ops.sort(x.reshape(10, 100))


@pytest.mark.parametrize("device", DEVICES)
def test_histogram(device: str) -> None:
    x = torch.rand(3000, device=device) * 3 - 1
    expected = torch.histc(x.double(), 10, -0.5, 1.5).long()
    assert torch.equal(ops.histogram(x, 10, -0.5, 1.5), expected)
    check_operator("histogram", x, 10, -0.5, 1.5)
    check_compiled(functools.partial(ops.histogram, bins=10, lo=-0.5, hi=1.5), x)


def _matrix(device: str) -> tuple[Any, ...]:
    dense = torch.randn(6, 5, dtype=torch.float64) * (torch.rand(6, 5) < 0.5)
    dense[2] = 0
    csr: Any = dense.to_sparse_csr()
    row_ptr, col = csr.crow_indices().int(), csr.col_indices().int()
    return dense, *(each.to(device) for each in (row_ptr, col, csr.values().float(), torch.randn(5)))


@pytest.mark.parametrize("device", DEVICES)
def test_spmv(device: str) -> None:
    torch.manual_seed(1)  # pyright: ignore[reportUnknownMemberType]
    dense, *given = _matrix(device)
    y = ops.spmv(*given)
    torch.testing.assert_close(
        y.cpu().double(), dense.float().double() @ given[3].cpu().double(), rtol=1e-5, atol=1e-6
    )
    row_ptr, col, val, x = given
    check_operator("spmv", row_ptr, col, val.clone().requires_grad_(), x.clone().requires_grad_())
    check_gradients(ops.spmv, *given)
    check_compiled(ops.spmv, *given)


def test_spmv_in_float64_passes_gradcheck() -> None:
    _, row_ptr, col, val, x = _matrix("cpu")
    leaves = [each.double().requires_grad_() for each in (val, x)]
    assert torch.autograd.gradcheck(functools.partial(ops.spmv, row_ptr, col), leaves)


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    x = torch.randn(100_000, device="cuda")
    check_graph(ops.scan, x)
    check_graph(ops.scan, torch.randn(50, 3000, device="cuda"))
    check_graph(ops.sort, x)
    check_graph(functools.partial(ops.sort, return_indices=True), x)
    check_graph(functools.partial(ops.histogram, bins=100, lo=-1, hi=1), x)
    check_graph(ops.spmv, *_matrix("cuda")[1:])
