"""scan, sort, histogram and spmv as operators."""

# Names are given as words that a type checker does not know, wrong ones among them.
# pyright: reportArgumentType=false

from __future__ import annotations

import functools
import itertools
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


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("values", [[1, 3, NAN, 2], [NAN, 1, NAN, 5], [2, 2, 1, 2.0], [1, -INF, 3, 3]])
def test_gradients_of_maxima_are_torchs_also_at_nan(values: list[float]) -> None:
    x = torch.tensor(values, requires_grad=True)
    above = torch.tensor([1.0, 2.0, 3.0, 4.0])
    ours = torch.autograd.grad(ops.scan(x, "max"), x, above)
    torch.testing.assert_close(ours, torch.autograd.grad(x.cummax(0).values, x, above))
    ours = torch.autograd.grad(ops.scan(x, "max", exclusive=True), x, above)
    torch.testing.assert_close(ours, torch.autograd.grad(x[:-1].cummax(0).values, x, above[1:]))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("op", ["sum", "max"])
def test_segments(op: str, exclusive: bool, device: str) -> None:
    """Each segment is scanned, and differentiated, as if it stood alone."""
    x = torch.randn(3, 10, device=device)
    flags = torch.zeros(3, 10, dtype=torch.bool, device=device)
    flags[0, [0, 4, 5]] = flags[1, [9]] = True
    for given, heads, dim in ((x, flags, -1), (x.t(), flags.t(), 0), (x[0], flags[0].byte(), -1)):
        above = torch.randn_like(given)
        leaf, again = (given.clone().requires_grad_() for _ in range(2))
        got = ops.scan(leaf, op, exclusive, dim, heads)
        expected = _scan_of_segments(again.movedim(dim, -1), op, exclusive, heads.movedim(dim, -1))
        torch.testing.assert_close(got, expected.movedim(-1, dim), rtol=1e-5, atol=1e-5)
        (ours,) = torch.autograd.grad(got, leaf, above)
        (theirs,) = torch.autograd.grad(expected, again, above.movedim(dim, -1))
        torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    check_operator("scan", x.clone().requires_grad_(), op, exclusive, flags)
    check_compiled(functools.partial(ops.scan, op=op, exclusive=exclusive, flags=flags), x)


def _scan_of_segments(x: Any, op: str, exclusive: bool, flags: Any) -> Any:
    if x.dim() == 2:
        rows = [_scan_of_segments(*each) for each in zip(x, [op] * 3, [exclusive] * 3, flags, strict=True)]
        return torch.stack(rows)
    bounds = sorted({0, x.numel(), *flags.nonzero().flatten().tolist()})
    parts: list[Any] = []
    for start, end in itertools.pairwise(bounds):
        part = x[start:end]
        if exclusive:
            first = part.new_full((1,), 0.0 if op == "sum" else -INF)
            part = torch.cat((first, part[:-1]))
        parts.append(part.cumsum(0) if op == "sum" else part.cummax(0).values)
    return torch.cat(parts)


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


SHAPES = [
    ((7, 40), -1),
    ((7, 40), 0),
    ((3, 5, 30), 1),
    ((1, 200), 1),
    ((200, 1), 0),
    ((0, 4), 1),
    ((4, 0), 1),
    ((), 0),
]


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(("shape", "dim"), SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32])
def test_sort_along_a_dimension_is_torchs(
    dtype: torch.dtype, shape: tuple[int, ...], dim: int, descending: bool
) -> None:
    x = torch.randint(-4, 5, shape).to(dtype)  # many are equal: their order is told by the indices
    if dtype.is_floating_point and x.numel() > 8:
        x.view(-1)[:6] = torch.tensor([float("nan"), float("inf"), -0.0, 0.0, float("-inf"), float("nan")])
    expected = torch.sort(x, dim=dim, descending=descending, stable=True)
    values, indices = ops.sort(x, return_indices=True, dim=dim, descending=descending)
    torch.testing.assert_close(values, expected.values, rtol=0, atol=0, equal_nan=True)
    assert torch.equal(indices, expected.indices)
    alone = ops.sort(x, dim=dim, descending=descending)
    torch.testing.assert_close(alone, expected.values, rtol=0, atol=0, equal_nan=True)


def _values(x: Any, **options: Any) -> Any:
    return torch.sort(x, **options).values


@pytest.mark.parametrize("descending", [False, True])
def test_gradients_of_sorted_rows(descending: bool) -> None:
    x = torch.randn(4, 3, 6)
    found: list[Any] = []
    differentiate: Any = torch.autograd.grad
    for function in (
        functools.partial(ops.sort, dim=1, descending=descending),
        functools.partial(_values, dim=1, descending=descending),
    ):
        leaf: Any = x.clone().requires_grad_()
        weight = torch.arange(72.0).view(4, 3, 6)
        (first,) = differentiate((function(leaf) ** 2 * weight).sum(), leaf, create_graph=True)
        found.append([first.detach(), *differentiate(first.square().sum(), leaf)])
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-5)
    check_compiled(functools.partial(ops.sort, return_indices=True, descending=descending), x)


def test_sorted_rows_are_an_operator() -> None:
    check_operator("sort_rows", torch.randn(4, 9).requires_grad_())
    with pytest.raises(FlashpathError, match=r"shape|dimensions"):
        torch.ops.flashpath.sort_rows(torch.randn(4))


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


@pytest.mark.parametrize("device", DEVICES)
def test_spmv_checks_its_indices(device: str) -> None:
    row_ptr, col = (torch.tensor(each, device=device) for each in ([0, 2, 2, 3], [0, 3, 1]))
    val, x = torch.ones(3, device=device), torch.ones(4, device=device)
    expected = torch.tensor([2.0, 0.0, 1.0], device=device)
    assert torch.equal(ops.spmv(row_ptr, col, val, x, check=True), expected)
    for wrong, words in (
        ((row_ptr.flip(0), col, val, x), "from 3 to 0"),
        ((row_ptr[:-1], col, val, x), r"from 0 to 2[\s\S]*here 3"),
        ((row_ptr + 1, col, val, x), "from 1 to 4"),
        ((torch.tensor([0, 5, 2, 3], device=device), col, val, x), r"row_ptr\[1\] = 5 and row_ptr\[2\] = 2"),
        ((row_ptr, col + 1, val, x), r"col\[1\] = 4 for an x of 4"),
        ((row_ptr, col - 1, val, x), r"col\[0\] = -1"),
        ((row_ptr, col, val, x[:2]), r"col\[1\] = 3 for an x of 2"),
        ((row_ptr[:0], col, val, x), "empty row_ptr"),
    ):
        with pytest.raises(FlashpathError, match=words):
            ops.spmv(*wrong, check=device != "cpu")


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    x = torch.randn(100_000, device="cuda")
    check_graph(ops.scan, x)
    check_graph(ops.scan, torch.randn(50, 3000, device="cuda"))
    check_graph(ops.sort, x)
    check_graph(functools.partial(ops.sort, return_indices=True), x)
    check_graph(functools.partial(ops.histogram, bins=100, lo=-1, hi=1), x)
    check_graph(ops.spmv, *_matrix("cuda")[1:])
