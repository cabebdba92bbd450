"""`ops.rope`: results, positions, gradients, compilation, graphs; and what it makes of odd arguments."""

# pyright: basic, reportArgumentType=false

from __future__ import annotations

from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.kernels.rope.ladder import cos_and_sin
from flashpath.kernels.rope.reference import formula
from tests.harness.operator_contract import (
    DEVICES,
    check_compiled,
    check_gradients,
    check_graph,
    check_operator,
)

ROPE: Any = ops.rope
FORMULA: Any = formula


def arguments(device: str = "cpu", dtype: Any = torch.float32) -> tuple[Any, ...]:
    """q and k of a batch of two, and cos and sin of 16 positions for 4 pairs of 6."""
    generator = torch.Generator().manual_seed(3)
    q, k = (torch.randn(2, 5, heads, 12, generator=generator).to(device, dtype) for heads in (4, 2))
    return q, k, *cos_and_sin(16, 4, device, torch.float32)


def turned(q: Any, k: Any, *, interleaved: bool = False, **positions: Any) -> Any:
    """The operator on angles of its own, which have no gradient."""
    angles = cos_and_sin(16, 4, str(q.device), torch.float32)
    return ROPE(q, k, *angles, interleaved=interleaved, **positions)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("interleaved", [False, True])
def test_an_operator_in_every_sense(interleaved: bool, device: str) -> None:
    q, k, cos, sin = arguments(device)
    got = ROPE(q, k, cos, sin, offsets=3, interleaved=interleaved)
    torch.testing.assert_close(got, FORMULA(q, k, cos, sin, None, 3, interleaved), rtol=1e-5, atol=1e-6)
    leaves = [each.clone().requires_grad_() for each in (q, k)]
    starts = torch.tensor([[3], [7]], device=device)
    check_operator("rope", *leaves, cos, sin, None, 3, interleaved, False)
    check_operator("rope", leaves[0], None, cos, sin, starts, 0, interleaved, True)
    check_gradients(lambda q, k: turned(q, k, interleaved=interleaved, offsets=2), q, k)


@pytest.mark.parametrize("device", DEVICES)
def test_compiled_in_one_graph(device: str) -> None:
    q, k, *_ = arguments(device)
    check_compiled(lambda q, k: turned(q, k, offsets=2), q, k)
    rows = torch.tensor([4, 1, 3, 3, 0], device=device)
    check_compiled(lambda q, k: turned(q, k, positions=rows, interleaved=True), q, k)
    check_compiled(lambda q: turned(q, None)[0], q)


def test_positions_and_offsets() -> None:
    q, k, cos, sin = arguments()
    each = torch.tensor([[3, 1, 15, 0, 7], [9, 9, 2, 11, 5]])
    for given, rows in (
        ({"positions": each}, each),
        ({"positions": each[0].int()}, each[:1]),
        ({"offsets": torch.tensor([3, 11])}, torch.tensor([[3], [11]])),
        ({"offsets": 11}, torch.tensor([[11]])),
    ):
        expected = FORMULA(q, k, cos, sin, rows)
        torch.testing.assert_close(ROPE(q, k, cos, sin, **given), expected, rtol=1e-5, atol=1e-6)
    # Sequences that follow each other.
    lone = ROPE(q[0], k[0], cos, sin, positions=each[0])
    torch.testing.assert_close(lone, tuple(x[0] for x in FORMULA(q, k, cos, sin, each)), rtol=1e-5, atol=1e-6)


def test_as_hugging_face_has_it() -> None:
    """Heads first, and the angles of both halves in one row for each token."""
    q, k, *_ = arguments()
    angles = torch.randn(2, 5, 6)
    cos, sin = (torch.cat((each, each), -1) for each in (angles.cos(), angles.sin()))

    def other_half(x: Any) -> Any:
        first, second = x.chunk(2, -1)
        return torch.cat((-second, first), -1)

    expected = [x * cos[:, :, None] + other_half(x) * sin[:, :, None] for x in (q, k)]
    heads_first = [x.transpose(1, 2).contiguous() for x in (q, k)]
    got = ROPE(*(x.transpose(1, 2) for x in heads_first), cos[..., :6], sin[..., :6])
    torch.testing.assert_close(list(got), expected, rtol=1e-5, atol=1e-6)


def test_without_k() -> None:
    q, _, cos, sin = arguments()
    q.requires_grad_()
    got, nothing = ROPE(q, None, cos, sin)
    assert nothing is None
    (dq,) = torch.autograd.grad(got, q, torch.ones_like(got))
    expected = FORMULA(torch.ones_like(q), None, cos, sin, None, 0, False, True)[0]
    torch.testing.assert_close(dq, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("of", [0, 1])
def test_a_gradient_of_one_result_alone(of: int) -> None:
    q, k, *_ = arguments()
    leaves = [each.clone().requires_grad_() for each in (q, k)]
    turned(*leaves)[of].square().sum().backward()
    assert leaves[1 - of].grad is None or not leaves[1 - of].grad.any()
    torch.testing.assert_close(leaves[of].grad, 2 * leaves[of].detach(), rtol=1e-5, atol=1e-5)


def test_a_gradient_has_a_gradient() -> None:
    q, k, cos, sin = arguments()
    found: list[Any] = []
    for function in (lambda q, k: turned(q, k), lambda q, k: FORMULA(q, k, cos, sin)):
        leaves = [each.clone().requires_grad_() for each in (q, k)]
        a, b = function(*leaves)
        first = torch.autograd.grad((a**3).sum() + (b**3).sum(), leaves, create_graph=True)
        loss: Any = sum(each.square().sum() for each in first)
        found.append(torch.autograd.grad(loss, leaves))
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-3)


def test_gradients_of_any_strides() -> None:
    q, k, cos, sin = arguments(dtype=torch.bfloat16)
    q.requires_grad_()
    got = ROPE(q[..., ::1].transpose(0, 1).contiguous().transpose(0, 1), k, cos, sin)[0]
    (dq,) = torch.autograd.grad(got.sum(), q)
    expected = FORMULA(torch.ones_like(q), None, cos, sin, None, 0, False, True)[0]
    torch.testing.assert_close(dq, expected, rtol=1e-2, atol=1e-2)


def test_any_strides_of_the_last_dimension_too() -> None:
    q, k, cos, sin = arguments()
    wide = torch.stack((q, q), -1)[..., 0]
    assert wide.stride(-1) == 2
    assert torch.equal(ROPE(wide, k, cos, sin)[0], ROPE(q, k, cos, sin)[0])
    spread = [torch.stack((each, each), -1)[..., 0] for each in (cos, sin)]
    assert torch.equal(ROPE(q, k, *spread)[0], ROPE(q, k, cos, sin)[0])


def test_export_with_a_dynamic_dimension() -> None:
    class Model(torch.nn.Module):
        def forward(self, q: Any, k: Any, rows: Any) -> Any:
            return turned(q, k, positions=rows)

    q, k, *_ = arguments()
    length = torch.export.Dim("length", min=2, max=64)
    sizes = {"q": {1: length}, "k": {1: length}, "rows": {0: length}}
    exported = torch.export.export(Model(), (q, k, torch.arange(5)), dynamic_shapes=sizes)
    fewer = q[:, :3], k[:, :3], torch.arange(3)
    torch.testing.assert_close(exported.module()(*fewer), Model()(*fewer))


WRONG = [
    (lambda q, k, c, s: ROPE(q, k, c, s, positions=torch.arange(5), offsets=1), "positions and offsets"),
    (
        lambda q, k, c, s: ROPE(q, k, c, s, positions=torch.arange(5) + 12),
        "positions 12 to 16 of a table",
    ),
    (lambda q, k, c, s: ROPE(q, k, c, s, offsets=torch.tensor([0, 12])), "positions 0 to 16 of a table"),
    (lambda q, k, c, s: ROPE(q, k, c, s, offsets=12), "positions 12 to 16 of a table"),
    (lambda q, k, c, s: ROPE(q, k, c, s, offsets=-1), "positions -1 to 3"),
    (lambda q, k, c, s: ROPE(q, k, c, s, offsets=torch.tensor([1])), r"offsets of shape \(1,\)"),
    (lambda q, k, c, s: ROPE(q, k, c, s, offsets=1.0), "offsets = 1.0"),
    (lambda q, k, c, s: ROPE(q, k, c, s, interleaved=1), "interleaved = 1"),
    (lambda q, k, c, s: ROPE(q, k, c.requires_grad_(), s), "cos that requires a gradient"),
    (lambda q, k, c, s: ROPE(q, [k], c, s), "got k = "),
    (lambda q, k, c, s: ROPE(q, k.double(), c, s), "float64"),
    (lambda q, k, c, s: ROPE(q.to("meta"), k, c, s), "meta"),
]


@pytest.mark.parametrize("case", range(len(WRONG)))
def test_wrong_arguments(case: int) -> None:
    call, words = WRONG[case]
    with pytest.raises(FlashpathError, match=words):
        call(*arguments())


def test_autocast_changes_nothing() -> None:
    q, k, *_ = arguments()
    expected = turned(q, k)
    with torch.autocast("cpu", torch.bfloat16):
        assert all(torch.equal(*pair) for pair in zip(turned(q, k), expected, strict=True))


@pytest.mark.gpu
def test_in_a_cuda_graph() -> None:
    q, k, *_ = arguments("cuda", torch.bfloat16)
    check_graph(lambda q, k: turned(q, k), q, k)


@pytest.mark.gpu
def test_a_known_call_gives_the_same() -> None:
    q, k, *_ = arguments("cuda", torch.bfloat16)
    expected = turned(q, k, offsets=1)
    for _ in range(4):
        for got, right in zip(turned(q, k, offsets=1), expected, strict=True):
            assert torch.equal(got, right)
