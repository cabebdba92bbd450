"""Plans with a gradient, on CPU tensors: the operator's own gradient of what the replay computed."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from flashpath import ops
from flashpath.kernels.cross_entropy import host as cross_entropy
from flashpath.ops.plans import gradient, recorded, replay
from flashpath.ops.plans.trace import NotPlannable
from tests.harness.replaying import VirtualDriver

Tensor = torch.Tensor
HALF = torch.bfloat16


class _Alone:
    """A function that is recorded when it is first called, and replayed from then on if possible."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.replay: Callable[..., Any] | None = None
        self.obstacle: str | None = None

    def __call__(self, *given: Any) -> Any:
        tensors = [each for each in given if isinstance(each, Tensor)]
        if self.replay is not None:
            return self.replay(*tensors)
        if self.obstacle is not None:
            return self._function(*given)
        result, recorder = recorded(self._function, given, {})
        assert recorder is not None
        try:
            trace = recorder.trace(result)
            self.replay = replay.compiled(trace, len(tensors), 0, VirtualDriver(trace))
        except NotPlannable as obstacle:
            self.obstacle = str(obstacle)
        return result


def _planned(
    function: Callable[..., Any],
    tensors: list[Tensor],
    alone: Callable[[Callable[..., Any]], Callable[..., Any]] = lambda function: function,
) -> Callable[..., Any]:
    with torch.no_grad():
        result, recorder = recorded(function, tuple(tensors), {}, wants_gradient=True)
    assert recorder is not None
    return gradient.planned(
        recorder.trace(result),
        recorder.calls,
        tensors,
        lambda trace: replay.compiled(trace, len(tensors), 0, VirtualDriver(trace)),
        alone,
    )


CALLS: dict[str, tuple[Callable[..., Any], list[tuple[tuple[int, ...], Any]]]] = {
    "softmax": (ops.softmax, [((3, 50), torch.float32)]),
    "rms_norm": (ops.rms_norm, [((2, 3, 40), torch.float32), ((40,), torch.float32)]),
    "layer_norm": (
        ops.layer_norm,
        [((6, 40), torch.float32), ((40,), torch.float32), ((40,), torch.float32)],
    ),
    "rms_norm 1 + weight": (
        lambda x, w: ops.rms_norm(x, w, 1e-6, 1.0),
        [((2, 3, 40), torch.float32), ((40,), HALF)],
    ),
    "add_rms_norm": (ops.add_rms_norm, [((2, 3, 40), HALF), ((2, 3, 40), HALF), ((40,), torch.float32)]),
    "add_layer_norm": (
        ops.add_layer_norm,
        [((6, 40), HALF), ((6, 40), HALF), ((40,), HALF), ((40,), HALF)],
    ),
    "silu": (ops.silu, [((5, 33), HALF)]),
    "gelu_tanh": (ops.gelu_tanh, [((5, 33), HALF)]),
    "silu_and_mul": (ops.silu_and_mul, [((5, 34), HALF)]),
    "scale": (lambda x: ops.scale(x, 0.5), [((5, 33), HALF)]),
    "clamp": (lambda x: ops.clamp(x, -0.5, 0.5), [((5, 33), HALF)]),
    "chain": (
        lambda x, y: ops.scale_add_activation(x, 0.5, y, "gelu"),
        [((5, 33), HALF), ((5, 33), HALF)],
    ),
    "add": (ops.add, [((5, 33), HALF), ((5, 33), HALF)]),
    "matmul": (ops.matmul, [((17, 24), torch.float32), ((24, 40), torch.float32)]),
    "swiglu": (ops.swiglu, [((5, 33), HALF), ((5, 33), HALF)]),
    "linear": (
        ops.linear,
        [((17, 24), torch.float32), ((40, 24), torch.float32), ((40,), torch.float32)],
    ),
    "sort": (ops.sort, [((3000,), torch.float32)]),
    "sort of rows": (lambda x: ops.sort(x, dim=1), [((30, 50), torch.float32)]),
    "min of rows": (lambda x: ops.reduce(x, "min", -1, True), [((30, 20), torch.float32)]),
    "sum": (ops.reduce, [((3000,), torch.float32)]),
    "max of rows": (lambda x: ops.reduce(x, "max", -1), [((30, 20), torch.float32)]),
    "attention": (lambda q, k, v: ops.attention(q, k, v, causal=True), [((1, 20, 2, 16), HALF)] * 3),
    "attention with lse": (
        lambda q, k, v: ops.attention(q, k, v, return_lse=True),
        [((1, 20, 2, 16), HALF)] * 3,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_those_of_the_operator(name: str) -> None:
    function, layouts = CALLS[name]
    plan = _planned(function, [torch.randn(shape).to(dtype) for shape, dtype in layouts])
    leaves = [torch.randn(shape).to(dtype).requires_grad_() for shape, dtype in layouts]
    got, expected = (_with_gradients(each, leaves) for each in (plan, function))
    torch.testing.assert_close(got, expected, rtol=0, atol=0)


@pytest.mark.parametrize("name", CALLS)
def test_gradients_are_replayed(name: str) -> None:
    function, layouts = CALLS[name]
    made: list[_Alone] = []

    def alone(backward: Callable[..., Any]) -> _Alone:
        made.append(_Alone(backward))
        return made[-1]

    def drawn() -> list[Tensor]:
        return [torch.randn(shape).to(dtype) for shape, dtype in layouts]

    plan = _planned(function, drawn(), alone)
    for _ in range(3):
        leaves = [each.requires_grad_() for each in drawn()]
        got, expected = (_with_gradients(each, leaves) for each in (plan, function))
        torch.testing.assert_close(got, expected, rtol=0, atol=0)
    (backward,) = made
    assert backward.obstacle == ("a result that is no memory of its own" if name in ("add", "sum") else None)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_and_its_gradient_are_replayed(reduction: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cross_entropy, "require_classes", _nobody_looks)  # as on a GPU
    made: list[_Alone] = []

    def alone(backward: Callable[..., Any]) -> _Alone:
        made.append(_Alone(backward))
        return made[-1]

    def function(logits: Tensor, target: Tensor) -> Any:
        return ops.cross_entropy(logits, target, reduction=reduction, label_smoothing=0.1, return_lse=True)

    def drawn() -> tuple[Tensor, Tensor]:
        target = torch.randint(50, (2, 3))
        target[0, 1] = -100
        return torch.randn(2, 3, 50), target

    plan = _planned(function, [*drawn()], alone)
    for _ in range(3):
        logits, target = drawn()
        found: list[Any] = []
        for each in (plan, function):
            leaf = logits.clone().requires_grad_()
            loss, lse = each(leaf, target)
            assert not lse.requires_grad
            found.append([loss.detach(), lse, *torch.autograd.grad(loss.sum(), leaf)])
        torch.testing.assert_close(*found, rtol=0, atol=0)
    (backward,) = made
    assert backward.obstacle is None


def _nobody_looks(target: Tensor, classes: int, ignore_index: int) -> None:
    """Stands for the check of targets, which a GPU's are spared."""


def test_each_choice_of_inputs_has_its_own_gradient() -> None:
    made: list[_Alone] = []

    def alone(backward: Callable[..., Any]) -> _Alone:
        made.append(_Alone(backward))
        return made[-1]

    plan = _planned(ops.matmul, [torch.randn(17, 24), torch.randn(24, 40)], alone)
    for wants_a, wants_b in ((True, True), (True, False), (False, True)) * 3:
        a, b = (torch.randn(17, 24, requires_grad=wants_a), torch.randn(24, 40, requires_grad=wants_b))
        leaves = [each for each in (a, b) if each.requires_grad]
        got, expected = (torch.autograd.grad(each(a, b).sum(), leaves) for each in (plan, ops.matmul))
        torch.testing.assert_close(got, expected, rtol=0, atol=0)
    assert len(made) == 3
    assert all(each.replay is not None for each in made)


def _with_gradients(function: Callable[..., Any], leaves: list[Tensor]) -> list[Tensor]:
    out = function(*leaves)
    outputs: list[Any] = list(out) if isinstance(out, tuple) else [out]
    weights = [torch.linspace(-1, 1, each.numel()).reshape(each.shape).to(each.dtype) for each in outputs]
    return [*outputs, *torch.autograd.grad(outputs, leaves, weights)]


def test_second_gradients() -> None:
    plan = _planned(ops.softmax, [torch.randn(3, 10)])
    x = torch.randn(3, 10, dtype=torch.float32, requires_grad=True)

    def second(function: Callable[..., Any]) -> Tensor:
        (first,) = torch.autograd.grad(function(x).square().sum(), x, create_graph=True)
        return torch.autograd.grad(first.square().sum(), x)[0]

    torch.testing.assert_close(second(plan), second(ops.softmax))


def test_what_has_another_gradient_is_not_planned() -> None:
    with pytest.raises(NotPlannable, match="not a reshaping"):
        _planned(lambda x: ops.softmax(x, 0), [torch.randn(3, 10)])
    with pytest.raises(NotPlannable, match="other than one operator"):
        _planned(lambda x: ops.silu(ops.silu(x)), [torch.randn(3, 10)])
    with pytest.raises(NotPlannable, match="without a gradient"):
        _planned(lambda x: ops.histogram(x, 4, 0.0, 1.0), [torch.randn(10)])
