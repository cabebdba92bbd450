"""Which rung answers a call of `fp.attention_decode`, and why."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.decode import cuda_host
from flashpath.kernels.attention.decode.cache import Step
from flashpath.kernels.where import Where, where_is

# The rungs of the ladder that backends are.
RUNGS = {"triton": "split_triton", "cuda": "split_cuda"}
# Where each rung's decode(step, num_splits) is.
BACKENDS = {
    "triton": "flashpath.kernels.attention.decode.host",
    "cuda": "flashpath.kernels.attention.decode.cuda_host",
}


@dataclass(frozen=True)
class Choice:
    """A rung, and the reason in words."""

    backend: str
    why: str

    @property
    def decode(self) -> Callable[..., tuple[Any, Any]]:
        return importlib.import_module(BACKENDS[self.backend]).decode


def choose(step: Step, backend: str | None = None, where: Where | None = None) -> Choice:
    """The rung that was asked for, or the fastest that can do it, where the tensors are or `where` says."""
    if backend is not None:
        if backend not in BACKENDS:
            raise FlashpathError(
                f"attention_decode got backend={backend!r:.80}.",
                f"It knows {', '.join(BACKENDS)} and reference, or None for the fastest of them.",
            )
        return Choice(backend, "it was asked for")
    mod = step.options.score_mod
    if mod is not None and (mod.cuda is None or mod.triton is None):
        language = "triton" if mod.cuda is None else "cuda"
        mod.form(language)
        return Choice(language, f"it is the only language that the score_mod {mod.name!r} is given in")
    where = where or where_is(step.q)
    obstacle = cuda_host.obstacle_to(step, where.shared)
    if obstacle is not None:
        return Choice("triton", f"CUDA C++ does not take it: {obstacle}")
    if where.capability is None:
        return Choice("cuda", "on the virtual GPU CUDA C++ is compiled sooner than Triton")
    if step.cache.page_table is not None:
        return Choice("cuda", "CUDA C++ looks pages up ahead of their keys")
    return Choice("triton", "Triton has the larger tiles under way, which a cache without pages feeds evenly")
