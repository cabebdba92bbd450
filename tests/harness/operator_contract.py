"""What every operator promises, whatever it computes: checked by one function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def check_operator(name: str, *arguments: Any) -> None:
    """Schema, shape rule, gradient registration and dynamic shapes of an operator, by torch's tests."""
    library: Any = torch.library
    library.opcheck(getattr(torch.ops.flashpath, name).default, arguments)


def check_compiled(function: Callable[..., Any], *arguments: Any) -> None:
    """One graph, the same result, the same gradients. Without a GPU nothing is generated, only traced."""
    compiler: Any = torch
    compiler._dynamo.reset()  # no limit on how often a test's function is compiled
    backend = "inductor" if any(_on_gpu(each) for each in arguments) else "aot_eager"
    compiled = compiler.compile(function, fullgraph=True, backend=backend)
    for expected, got in zip(
        _with_gradients(function, arguments), _with_gradients(compiled, arguments), strict=True
    ):
        torch.testing.assert_close(got, expected, rtol=0, atol=0)


def check_gradients(function: Callable[..., Any], *arguments: Any, relative: float = 2e-3) -> None:
    """Directional finite differences: along a random direction the function changes as its gradient says.

    In float32, so the step is large and the tolerance wide; what is wrong by a factor, a sign or a
    transposition is far outside of it. The direction goes uphill by that gradient in every coordinate: its
    parts would else cancel now and then, and leave less of the sum than float32 resolves.
    """
    generator = torch.Generator().manual_seed(5)
    inputs = [each for each in arguments if _is_differentiable(each)]
    outputs, gradients = _outputs_and_gradients(function, arguments, generator)
    directions = [_uphill(each, generator) for each in gradients]
    predicted = _dot(gradients, directions)
    step = 1e-2

    def moved(sign: float) -> float:
        shifted = iter(
            [
                (each.detach().double() + sign * step * d.double()).to(each.dtype)
                for each, d in zip(inputs, directions, strict=True)
            ]
        )
        at = [next(shifted) if _is_differentiable(each) else each for each in arguments]
        return _dot(_listed(function(*at)), outputs)

    measured = (moved(+1) - moved(-1)) / (2 * step)
    scale = max(abs(measured), abs(predicted), 1e-3)
    assert abs(measured - predicted) <= relative * scale, f"moved by {measured}, not {predicted}"


def _uphill(gradient: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    drawn = torch.randn(gradient.shape, generator=generator).to(gradient)
    return torch.where(gradient == 0, drawn, drawn.abs() * gradient.sign())


def _outputs_and_gradients(
    function: Callable[..., Any], arguments: Sequence[Any], generator: torch.Generator
) -> tuple[list[Any], list[Any]]:
    """Random weights for the outputs, and the gradient of the weighted sum."""
    leaves = [_leaf(each) for each in arguments]
    outputs = _listed(function(*leaves))
    weights = [torch.randn(each.shape, generator=generator).to(each) for each in outputs]
    loss: Any = sum((each * w).sum() for each, w in zip(outputs, weights, strict=True))
    loss.backward()
    return weights, [each.grad for each in leaves if _is_differentiable(each)]


def _with_gradients(function: Callable[..., Any], arguments: Sequence[Any]) -> list[Any]:
    leaves = [_leaf(each) for each in arguments]
    outputs = _listed(function(*leaves))
    differentiable = [each for each in outputs if each.requires_grad]
    if differentiable:
        loss: Any = sum(each.sum() for each in differentiable)
        loss.backward()
    gradients = [each.grad for each in leaves if _is_differentiable(each) and each.grad is not None]
    return [*(each.detach() for each in outputs), *gradients]


def _dot(these: Sequence[Any], those: Sequence[Any]) -> float:
    pairs = zip(these, those, strict=True)
    return sum(float((a.detach().double() * b.double()).sum()) for a, b in pairs)


def _leaf(value: Any) -> Any:
    return value.detach().clone().requires_grad_() if _is_differentiable(value) else value


def _listed(output: Any) -> list[Any]:
    return [*cast("Sequence[Any]", output)] if isinstance(output, (tuple, list)) else [output]


def _is_differentiable(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


def _on_gpu(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_cuda


def check_graph(function: Callable[..., Any], *arguments: Any) -> None:
    """Captured in a CUDA graph, a replay on new data gives what a call gives."""
    given = [each.clone() if isinstance(each, torch.Tensor) else each for each in arguments]
    function(*given)  # compiles, and allocates what is kept
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = function(*given)
    for each in given:
        if _is_differentiable(each):
            each.copy_(torch.randn_like(each))
    graph.replay()
    for expected, got in zip(_listed(function(*given)), _listed(captured), strict=True):
        torch.testing.assert_close(got, expected, rtol=0, atol=0)
