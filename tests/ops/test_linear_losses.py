"""linear_cross_entropy: the loss of a product, its gradients, and what memory it takes."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from flashpath import ops
from flashpath.errors import FlashpathError
from flashpath.kernels.cross_entropy.ladder import LADDER
from flashpath.ops import linear_losses, logits_in_parts
from flashpath.ops.logits_in_parts import rows_at_once
from tests.harness.guarded_output import poison_new_memory
from tests.harness.operator_contract import DEVICES, check_compiled, check_gradients, check_operator

F: Any = torch.nn.functional
REDUCTIONS = ("mean", "sum", "none")
SETTINGS: dict[str, Any] = {"label_smoothing": 0.1, "z_loss": 1e-2, "softcap": 4.0}
ROWS, HIDDEN, CLASSES = 10, 8, 40


@pytest.fixture(autouse=True)
def parts_of_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten rows are four parts, the last of one row; and new memory is full of NaN."""
    poison_new_memory(monkeypatch)
    monkeypatch.setattr(logits_in_parts, "ROWS", 3)
    assert rows_at_once(ROWS, HIDDEN, CLASSES) == 3


def drawn(device: str = "cpu", dtype: torch.dtype = torch.float32) -> list[Any]:
    """x, weight, targets of which one is ignored, and bias."""
    generator = torch.Generator().manual_seed(11)
    shapes = ((2, 5, HIDDEN), (CLASSES, HIDDEN), (CLASSES,))
    x, weight, bias = (torch.randn(shape, generator=generator).to(device, dtype) for shape in shapes)
    target = torch.randint(CLASSES, (2, 5), generator=generator)
    target[0, 1] = -100
    return [x, weight, target.to(device), bias]


def by_logits(x: Any, weight: Any, target: Any, bias: Any = None, **settings: Any) -> Any:
    """The same with all logits."""
    logits = x @ weight.t() if bias is None else x @ weight.t() + bias
    return ops.cross_entropy(logits, target, **settings)


def with_gradients(function: Any, given: Sequence[Any], **settings: Any) -> list[Any]:
    """The loss and the gradients of x, weight and bias."""
    x, weight, target, *bias = given
    leaves = [each.clone().requires_grad_() for each in (x, weight, *bias)]
    loss = function(leaves[0], leaves[1], target, *leaves[2:], **settings)
    above = torch.linspace(0.5, 2, loss.numel(), device=loss.device).reshape(loss.shape)
    return [loss.detach(), *torch.autograd.grad(loss, leaves, above)]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_losses_and_gradients_are_those_of_all_logits(reduction: str, device: str) -> None:
    given = drawn(device)
    for settings in ({}, SETTINGS):
        for arguments in (given, given[:3]):
            found = [
                with_gradients(function, arguments, reduction=reduction, **settings)
                for function in (ops.linear_cross_entropy, by_logits)
            ]
            torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)
    x, weight, target, bias = given
    expected = F.cross_entropy((x @ weight.t() + bias).movedim(-1, 1), target, reduction=reduction)
    got = ops.linear_cross_entropy(x, weight, target, bias, reduction=reduction)
    torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_types(dtype: torch.dtype) -> None:
    given = drawn(dtype=dtype)
    wide = [each.float() if each.is_floating_point() else each for each in given]
    for reduction in REDUCTIONS:
        got = with_gradients(ops.linear_cross_entropy, given, reduction=reduction)
        expected = with_gradients(by_logits, wide, reduction=reduction)
        assert [each.dtype for each in got] == [torch.float32, dtype, dtype, dtype]
        for one, other in zip(got, expected, strict=True):
            size = float(other.abs().max())
            torch.testing.assert_close(one.float(), other, rtol=2**-6, atol=2**-6 * size)


def test_float16_gradients_are_not_lost_in_the_mean() -> None:
    """1 / 4000 / 64 has 7 bits in float16, if it is rounded before the loss is scaled up."""
    rows, classes, factor = 64, 4000, 2.0**16
    x, weight = torch.full((rows, 2), 0.5).half(), torch.zeros(classes, 2).half().requires_grad_()
    target = torch.zeros(rows, dtype=torch.int64)
    loss = ops.linear_cross_entropy(x, weight, target) * factor
    (got,) = torch.autograd.grad(loss, weight)
    expected = torch.full((classes, 2), 0.5 * factor / classes)
    expected[0] -= 0.5 * factor
    torch.testing.assert_close(got.float(), expected, rtol=2e-3, atol=0)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_it_is_a_torch_operator(reduction: str) -> None:
    x, weight, target, bias = drawn()
    numbers = -100, 0.1, 0.01, 3.0
    rows, leaf = x[0].clone().requires_grad_(), weight.clone().requires_grad_()
    wants = [reduction != "none"] * 2
    name = "linear_cross_entropy"
    check_operator(name, rows, leaf, bias, target[0], *numbers, reduction, True, *wants, False)
    check_operator(name, x[0], leaf, None, target[0], *numbers, reduction, False, False, wants[0], False)
    grad = torch.rand(5 if reduction == "none" else ())
    lse = torch.logsumexp(3 * torch.tanh((x[0] @ weight.t() + bias) / 3), -1)
    given = grad, x[0], weight, bias, target[0], lse, *numbers
    check_operator(f"{name}_backward", *given, True, True, True)
    check_operator(f"{name}_backward", *given, False, True, False)

    def function(x: Any, weight: Any, bias: Any) -> Any:
        return ops.linear_cross_entropy(x, weight, target, bias, reduction=reduction, **SETTINGS)

    check_gradients(function, x, weight, bias)
    check_compiled(function, x, weight, bias)


def test_a_second_backward_pass_gives_the_same() -> None:
    """The first may write over what it kept; the second computes it again."""
    x, weight, target, bias = drawn()
    leaves = [each.clone().requires_grad_() for each in (x, weight, bias)]
    loss = ops.linear_cross_entropy(leaves[0], leaves[1], target, leaves[2])
    first = torch.autograd.grad(loss * 3, leaves, retain_graph=True)
    kept = [each.clone() for each in first]
    second = torch.autograd.grad(loss * 3, leaves)
    torch.testing.assert_close(second, tuple(kept), rtol=1e-5, atol=1e-6)
    assert all(torch.equal(one, other) for one, other in zip(first, kept, strict=True))


@pytest.mark.parametrize("wanted", [(0,), (1,), (2,), (0, 2)])
def test_only_wanted_gradients_are_made(wanted: tuple[int, ...]) -> None:
    x, weight, target, bias = drawn()
    for reduction in ("mean", "none"):
        leaves = [each.clone().requires_grad_(i in wanted) for i, each in enumerate((x, weight, bias))]
        loss = ops.linear_cross_entropy(leaves[0], leaves[1], target, leaves[2], reduction=reduction)
        asked = [leaves[i] for i in wanted]
        got = torch.autograd.grad(loss.sum(), asked)
        expected = torch.autograd.grad(
            by_logits(leaves[0], leaves[1], target, leaves[2], reduction=reduction).sum(), asked
        )
        torch.testing.assert_close(got, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_gradients_of_gradients_are_those_of_all_logits(reduction: str) -> None:
    x, weight, target, bias = drawn()
    found: list[list[Any]] = []
    for function in (ops.linear_cross_entropy, by_logits):
        leaves = [each.clone().requires_grad_() for each in (x, weight, bias)]
        loss = function(leaves[0], leaves[1], target, leaves[2], reduction=reduction).sum()
        first = torch.autograd.grad(loss, leaves, create_graph=True)
        penalty: Any = sum(each.square().sum() for each in first)
        found.append([*(each.detach() for each in first), *torch.autograd.grad(penalty, leaves)])
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-5)


def test_autocast_changes_nothing() -> None:
    given = drawn()
    for reduction in REDUCTIONS:
        expected = with_gradients(ops.linear_cross_entropy, given, reduction=reduction)
        with torch.autocast("cpu", torch.bfloat16):
            got = with_gradients(ops.linear_cross_entropy, given, reduction=reduction)
        for one, other in zip(got, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)


def test_the_lse_and_rows_that_do_not_count() -> None:
    x, weight, target, bias = drawn()
    logits = x @ weight.t() + bias
    for reduction in REDUCTIONS:
        _, lse = ops.linear_cross_entropy(x, weight, target, bias, reduction=reduction, return_lse=True)
        torch.testing.assert_close(lse, torch.logsumexp(logits, -1))
    ignored = torch.full_like(target, -100)
    leaf = x.clone().requires_grad_()
    loss = ops.linear_cross_entropy(leaf, weight, ignored)
    assert loss.isnan()
    assert not torch.autograd.grad(ops.linear_cross_entropy(leaf, weight, ignored, reduction="sum"), leaf)[
        0
    ].any()


@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one_class(rows: int) -> None:
    x, weight = torch.randn(rows, 3, requires_grad=True), torch.randn(1, 3, requires_grad=True)
    target = torch.zeros(rows, dtype=torch.int64)
    for reduction in ("sum", "none"):
        loss = ops.linear_cross_entropy(x, weight, target, reduction=reduction)
        assert torch.equal(loss, torch.zeros(() if reduction == "sum" else rows))
        for each in torch.autograd.grad(loss.sum(), (x, weight)):
            assert not each.any()
    assert ops.linear_cross_entropy(x, weight, target).isnan() == (rows == 0)


# ---- Memory ----------------------------------------------------------------------------------------------


def tensors_of(value: Any) -> list[torch.Tensor]:
    return [each for each in tree_flatten(value)[0] if isinstance(each, torch.Tensor)]


def memory_of(x: torch.Tensor) -> int:
    return x.untyped_storage().data_ptr()


class Sizes(TorchDispatchMode):
    """Every tensor that is made, by its elements, in the order of making."""

    def __init__(self) -> None:
        super().__init__()  # pyright: ignore[reportUnknownMemberType]
        self.made: list[int] = []

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        taken = {memory_of(each) for each in tensors_of((args, kwargs))}
        result = func(*args, **(kwargs or {}))
        made = [each for each in tensors_of(result) if not each.is_meta and memory_of(each) not in taken]
        self.made += [each.numel() for each in made]
        return result


@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_the_logits_are_never_all_there(reduction: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The largest tensor that is made, beside the gradients, is a part of the logits, and it is made once."""
    monkeypatch.setattr(logits_in_parts, "ROWS", 16)
    rows, hidden, classes = 128, 16, 640
    x, weight = torch.randn(rows, hidden), torch.randn(classes, hidden)
    target = torch.randint(classes, (rows,))
    part = rows_at_once(rows, hidden, classes) * classes
    assert part == 16 * classes
    for wants_gradient in (False, True):
        leaves = [each.clone().requires_grad_(wants_gradient) for each in (x, weight)]
        with Sizes() as forward:
            wants = [wants_gradient and reduction != "none"] * 2
            # The operator's own kernel side: a mode does not see what an operator does inside.
            made = linear_losses._forward(  # pyright: ignore[reportPrivateUsage]
                leaves[0].detach(), leaves[1].detach(), None, target, -100, 0.0, 0.0, 0.0, reduction, False,
                *wants, False,
            )  # fmt: skip
        large = sorted(each for each in forward.made if each > rows * hidden)
        of_weight = [classes * hidden] if wants[0] else []
        assert large == sorted([part, *of_weight]), "a part of the logits, and the gradient of the weight"
        if reduction == "none" and wants_gradient:
            with Sizes() as backward:
                linear_losses._backward(  # pyright: ignore[reportPrivateUsage]
                    torch.ones(rows), x, weight, None, target, made[1], -100, 0.0, 0.0, 0.0, True, True, False
                )  # fmt: skip
            large = sorted(each for each in backward.made if each > rows * hidden)
            assert large == sorted([part, classes * hidden])


def test_the_gradients_are_multiplied_in_their_own_memory() -> None:
    x, weight, target, bias = drawn()
    leaves = [each.clone().requires_grad_() for each in (x, weight, bias)]
    loss = ops.linear_cross_entropy(leaves[0], leaves[1], target, leaves[2])
    kept: Any = loss.grad_fn
    before = [each.data_ptr() for each in kept.kept]
    got = torch.autograd.grad(loss, leaves)
    assert [each.data_ptr() for each in got] == before
    assert kept.kept is None


def test_how_many_rows_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logits_in_parts, "ROWS", 256)
    assert rows_at_once(8192, 4096, 128_256) == 256  # 261 rows have the elements of x
    assert rows_at_once(8192, 4096, 32_000) == 1024
    assert rows_at_once(1024, 4096, 128_256) == 256
    assert rows_at_once(100, 4096, 128_256) == 100
    assert rows_at_once(8192, 4096, 1000) == 8192
    assert rows_at_once(0, 4096, 1000) == 0


# ---- At the border ---------------------------------------------------------------------------------------


def test_wrong_arguments_are_told() -> None:
    x, weight, target, bias = drawn()
    function: Any = ops.linear_cross_entropy
    cases: list[tuple[Any, str]] = [
        (lambda: function(x, weight.t(), target), r"weight of shape \(8, 40\)"),
        (lambda: function(x, weight[0], target), "classes, hidden"),
        (lambda: function(x, weight.half(), target), "weight"),
        (lambda: function(x, weight, target, bias[1:]), "bias"),
        (lambda: function(x, weight, target, bias.half()), "bias"),
        (lambda: function(x.double(), weight.double(), target), "float64"),
        (lambda: function(x, weight, target[0]), "target of shape"),
        (lambda: function(x, weight, target.int()), "int64"),
        (lambda: function(x, weight, target.clamp(min=0) + 40), "for 40 classes"),
        (lambda: function(x, weight, target, reduction="max"), "reduction 'max'"),
        (lambda: function(x, weight, target, label_smoothing=2.0), "label_smoothing = 2.0"),
        (lambda: function(x, 1, target), "weight = 1"),
    ]
    for call, says in cases:
        with pytest.raises(FlashpathError, match=says):
            call()
    meta = [each.to("meta") for each in (x, weight, target)]
    assert function(*meta, reduction="none").shape == (2, 5)
    with pytest.raises(FlashpathError, match="classes, hidden"):
        function(meta[0], meta[1].t(), meta[2])


def test_the_ladders_rung_is_asked_for_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    best = type(LADDER).best

    def noted(ladder: Any, logits: Any, **options: Any) -> Any:
        asked.append((len(logits), options.get("direction", "forward")))
        return best(ladder, logits, **options)

    monkeypatch.setattr(type(LADDER), "best", noted)
    x, weight, target, _ = drawn()
    ops.linear_cross_entropy(x, weight, target)
    ops.linear_cross_entropy(x, weight.clone().requires_grad_(), target)
    assert asked == [*((rows, way) for way in ("forward", "both") for rows in (3, 3, 3, 1))]


def torchs(x: Any, weight: Any, target: Any, bias: Any, reduction: str) -> Any:
    return F.cross_entropy(x @ weight.t() + bias, target, reduction=reduction)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_parts_on_a_gpu(dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logits_in_parts, "ROWS", 256)
    generator = torch.Generator("cuda").manual_seed(1)
    draw = functools.partial(torch.randn, generator=generator, device="cuda")
    x, weight, bias = draw(2000, 512).to(dtype), (draw(9001, 512) / 20).to(dtype), draw(9001).to(dtype)
    target = torch.randint(9001, (2000,), generator=generator, device="cuda")
    assert rows_at_once(2000, 512, 9001) == 256
    wide = [x.double(), weight.double(), target, bias.double()]
    for reduction in REDUCTIONS:
        got = with_gradients(ops.linear_cross_entropy, [x, weight, target, bias], reduction=reduction)
        expected = with_gradients(torchs, wide, reduction=reduction)
        for one, other in zip(got, expected, strict=True):
            size, close = float(other.abs().max()), 2**-6 if dtype != torch.float32 else 1e-4
            torch.testing.assert_close(one.double(), other, rtol=close, atol=close * size)
