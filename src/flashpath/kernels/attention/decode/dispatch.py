"""Which rung answers a call of `fp.attention_decode`, and why."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flashpath.kernels.attention.choice import decided
from flashpath.kernels.attention.decode import host_cuda
from flashpath.kernels.attention.decode.cache import Step
from flashpath.kernels.where import Where, where_is

# The rungs of the ladder that backends are.
RUNGS = {"triton": "split_triton", "cuda": "split_cuda"}
# Where each rung's decode(step, num_splits) is.
BACKENDS = {
    "triton": "flashpath.kernels.attention.decode.host_triton",
    "cuda": "flashpath.kernels.attention.decode.host_cuda",
}

# Bytes of a paged cache up to which Triton is not slower. On an H200 it took 0.89 to 0.99 of CUDA C++'s time
# with 1 × 1,024, 1 × 8,192 and 8 × 1,024 keys, which are the steps up to here, and 0.99 to 1.02 with more.
_LITTLE = 32 * 2**20
# Bytes of a cache without pages from which CUDA C++ is not slower: 64 × 65,536 keys, 16 GiB, took 0.92 of
# Triton's time; steps of up to 2 GiB took 1.00 to 1.19 of it. `flashpath bench attention_decode` times both.
_VAST = 4 * 2**30


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
    if (asked := decided("attention_decode", backend, step.options.score_mod)) is not None:
        return Choice(*asked)
    where = where or where_is(step.q)
    obstacle = host_cuda.obstacle_to(step, where.shared)
    if obstacle is not None:
        return Choice("triton", f"CUDA C++ does not take it: {obstacle}")
    if where.capability is None:
        return Choice("cuda", "on the virtual GPU CUDA C++ is compiled sooner than Triton")
    size = 2 * step.batch * step.cache.capacity * step.kv_heads * (step.dim + step.v_dim)
    if step.cache.page_table is None:
        if size >= _VAST:
            return Choice("cuda", f"of {_VAST >> 30} GiB of keys and values and more CUDA C++ is the faster")
        return Choice("triton", "Triton has larger tiles under way, which a cache without pages feeds evenly")
    if size <= _LITTLE:
        return Choice(
            "triton", f"of up to {_LITTLE >> 20} MiB of keys and values in pages Triton is the faster"
        )
    return Choice("cuda", "CUDA C++ looks pages up ahead of their keys, and its warps wait for nobody")
