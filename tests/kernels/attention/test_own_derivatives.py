"""Gradients against differences of the kernel's own forward: neither needs a reference.

The loss Σ w · out is followed a small step along a random direction and back. Its slope has to be what the
gradients say: ⟨dq, u⟩ + ⟨dk, u⟩ + ⟨dv, u⟩. Two steps of different sizes take out the third derivative.
"""

# pyright: basic, reportCallIssue=false, reportArgumentType=false

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from flashpath.kernels.attention.flash_v2.cuda import host as cuda
from flashpath.kernels.attention.flash_v2.triton import host as triton
from flashpath.kernels.attention.problem import Problem
from tests.harness.attention_samples import Sample, made

RUNGS = {"triton": triton, "cuda": cuda}
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)]
STEP = 2**-4
SAMPLES = [
    Sample(dtype="float16", mask="causal", lengths=(60, 70), heads=(4, 2)),
    Sample(dtype="float16", mask="window", softcap=3.0, alibi="heads", dropout=0.25, sinks=True),
    Sample(dtype="float16", layout="varlen", mod="bends", dims=(40, 24)),
]


def _on_a_grid(x: Any) -> Any:
    """Of a size and in steps that float16 has exactly, also after a step of a difference."""
    return (x * 32).round().clamp(-48, 48) / 32


def _slopes(rung: Any, problem: Problem, only: str | None = None) -> tuple[float, float]:
    """(by gradients, by differences) along a direction of ±1."""
    generator = torch.Generator(device=problem.q.device).manual_seed(5)
    tensors = {name: _on_a_grid(getattr(problem, name)) for name in "qkv"}
    problem = replace(problem, **tensors)

    def random_signs(x: Any) -> Any:
        return torch.randint(0, 2, x.shape, generator=generator, device=x.device).to(x) * 2 - 1

    directions = {
        name: random_signs(x) * (0 if only is not None and name != only else 1) for name, x in tensors.items()
    }
    out, lse = rung.forward(problem)
    # Correlated with the direction's effect, so that slopes are large beside the noise of rounded outputs.
    moved = rung.forward(
        replace(problem, **{name: x + 2 * STEP * directions[name] for name, x in tensors.items()})
    )[0]
    weights = torch.sign(moved.float() - out.float()).to(out)

    def loss(step: float) -> float:
        at = {name: x + step * directions[name] for name, x in tensors.items()}
        return float((rung.forward(replace(problem, **at))[0].double() * weights.double()).sum())

    gradients = rung.backward(problem, out, lse, weights)
    told = sum(
        float((grad.double() * directions[name].double()).sum())
        for name, grad in zip("qkv", gradients[:3], strict=True)
    )
    near, far = ((loss(h) - loss(-h)) / (2 * h) for h in (STEP, 2 * STEP))
    return told, (4 * near - far) / 3


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("rung", RUNGS)
@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_all_three_together(sample: Sample, rung: str, device: str) -> None:
    told, seen = _slopes(RUNGS[rung], made(sample, device))
    assert told == pytest.approx(seen, rel=1e-3)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("only", "qkv")
@pytest.mark.parametrize("rung", RUNGS)
def test_one_of_them(rung: str, only: str, device: str) -> None:
    told, seen = _slopes(RUNGS[rung], made(SAMPLES[0], device), only)
    assert told == pytest.approx(seen, rel=1e-3)
