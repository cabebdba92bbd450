"""Which rung answers a call of `fp.attention`, and why."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.problem import Problem

# Where each rung's forward(problem) and backward(problem, out, lse, dout, dlse, deterministic) are.
BACKENDS = {
    "triton": "flashpath.kernels.attention.flash_v2.triton.host",
    "cuda": "flashpath.kernels.attention.flash_v2.cuda.host",
}
_HOPPER = (9, 0)


@dataclass(frozen=True)
class Choice:
    """A rung, and the reason in words."""

    backend: str
    why: str

    @property
    def forward(self) -> Callable[..., Any]:
        return importlib.import_module(BACKENDS[self.backend]).forward

    @property
    def backward(self) -> Callable[..., Any]:
        return importlib.import_module(BACKENDS[self.backend]).backward


def choose(problem: Problem, backend: str | None = None) -> Choice:
    """The rung that was asked for, or the fastest one that can do it."""
    if backend is not None:
        if backend not in BACKENDS:
            raise FlashpathError(
                f"attention got backend={backend!r}.",
                f"It knows {', '.join(BACKENDS)} and reference, or None for the fastest of them.",
            )
        return Choice(backend, "it was asked for")
    mod = problem.options.score_mod
    if mod is not None and (mod.cuda is None or mod.triton is None):
        language = "triton" if mod.cuda is None else "cuda"
        mod.form(language)
        return Choice(language, f"it is the only language that the score_mod {mod.name!r} is given in")
    if not problem.q.is_cuda:
        return Choice("cuda", "on the virtual GPU CUDA C++ is compiled sooner than Triton")
    import torch

    if torch.cuda.get_device_capability(problem.q.device) == _HOPPER:
        return Choice("triton", "Triton's compiler writes wgmma, with twice the speed of mma.sync on Hopper")
    return Choice("cuda", "mma.sync is the fastest instruction there is before Hopper")
