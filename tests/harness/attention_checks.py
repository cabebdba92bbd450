"""Whether attention is right: against float64, with at most twice the error of torch in the same type."""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from flashpath.kernels.attention import tiled
from flashpath.kernels.attention.problem import Problem
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.tolerance import check_against
from tests.harness.guarded_output import unchanged

NAN = float("nan")
Forward = Callable[..., tuple[Any, Any]]
Backward = Callable[..., tiled.Gradients]


def in_double(problem: Problem) -> Problem:
    options = problem.options
    if options.sinks is not None:
        options = replace(options, sinks=options.sinks.double())
    return Problem(problem.q.double(), problem.k.double(), problem.v.double(), options, problem.sequences)


def poisoned(problem: Problem) -> tuple[Any, Any]:
    return problem.new_out().fill_(NAN), problem.new_lse().fill_(NAN)


def check_forward(forward: Forward, problem: Problem) -> tuple[Any, Any]:
    """Run it into memory full of NaN; gives (out, lse)."""
    inputs = [problem.q, problem.k, problem.v]
    given = poisoned(problem)
    with unchanged(*inputs):
        out, lse = forward(problem, *given)
    assert out is given[0]
    assert lse is given[1]
    exact, exact_lse = formula(*inputs, problem.options, problem.sequences)
    low, _ = formula(*inputs, problem.options, problem.sequences, dtype=problem.q.dtype)
    check_against(out, exact, low, absolute=1e-5)
    check_lse(lse, exact_lse)
    return out, lse


def check_lse(lse: Any, exact: Any, digits: float = 5e-6) -> None:
    """Float32 all the way, but for approximate exponentials: six digits."""
    assert lse.dtype == torch.float32
    assert lse.shape == exact.shape, f"lse has shape {tuple(lse.shape)}, not {tuple(exact.shape)}"
    dead = exact == -torch.inf
    assert bool((lse[dead] == -torch.inf).all()), "a query that sees nothing has an lse"
    if not bool(dead.all()):
        error = ((lse.double() - exact).abs() / (1 + exact.abs()))[~dead]
        assert float(error.max()) < digits, f"lse is off by {float(error.max()):.3g}"


def low_gradients(problem: Problem, dout: Any, dlse: Any | None) -> list[Any]:
    """What torch makes of the formula in the type of q."""
    inputs = [each.detach().requires_grad_() for each in (problem.q, problem.k, problem.v)]
    out, lse = formula(*inputs, problem.options, problem.sequences, dtype=problem.q.dtype)
    outputs, grads = [out], [dout]
    if dlse is not None:
        outputs.append(torch.where(lse == -torch.inf, torch.zeros_like(lse), lse))
        grads.append(dlse.to(lse.dtype))
    return list(torch.autograd.grad(outputs, inputs, grads))


def check_backward(
    backward: Backward, problem: Problem, *, with_dlse: bool = False, seed: int = 1, **options: Any
) -> tiled.Gradients:
    """Gradients of a random direction, from the exact output rounded as a forward rung would have it.

    They are held against float64 on these same inputs: where a query sees one key, the true gradient of its
    score is 0, and what delta makes of the rounding of `out` is all that there is. Whether forward and
    backward together give true gradients, test_own_derivatives.py and tests/ops look at.
    """
    generator = torch.Generator(device=problem.q.device).manual_seed(seed)
    wide = in_double(problem)
    out, lse = tiled.forward(wide)
    out, lse = out.to(problem.q.dtype), lse.float()
    dout = torch.randn(out.shape, generator=generator, device=out.device).to(out.dtype)
    dlse = torch.randn(lse.shape, generator=generator, device=out.device) if with_dlse else None
    if dlse is not None:
        dlse = torch.where(lse == -torch.inf, torch.zeros_like(dlse), dlse)
    with unchanged(problem.q, problem.k, problem.v, out, lse, dout):
        got = backward(problem, out, lse, dout, dlse, **options)
    wide_dlse = None if dlse is None else dlse.double()
    exact = tiled.backward(wide, out.double(), lse.double(), dout.double(), wide_dlse)
    for ours, truth, low in zip(got[:3], exact[:3], low_gradients(problem, dout, dlse), strict=True):
        check_against(ours, truth, low, absolute=1e-4 * max(1.0, _largest(truth)))
    if exact.dsinks is not None:
        assert got.dsinks is not None
        torch.testing.assert_close(got.dsinks.double(), exact.dsinks, rtol=0.02, atol=0.02)
    return got


def _largest(x: Any) -> float:
    return float(x.abs().max()) if x.numel() else 0.0
