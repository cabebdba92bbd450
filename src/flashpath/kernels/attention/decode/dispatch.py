"""Which rung answers a call of `fp.attention_decode`, and why: by what was measured."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flashpath.kernels.attention.choice import decided
from flashpath.kernels.attention.decode import host_cuda
from flashpath.kernels.attention.decode.cache import Step
from flashpath.kernels.attention.dispatch_table import DecodeCell, table
from flashpath.kernels.where import Where, where_is

# Where each rung's decode(step, num_splits) is.
BACKENDS = {
    "triton": "flashpath.kernels.attention.decode.host_triton",
    "cuda": "flashpath.kernels.attention.decode.host_cuda",
}


@dataclass(frozen=True)
class Choice:
    """A rung, the reason in words, and the measurement that it was chosen by, if there is one."""

    backend: str
    why: str
    cell: DecodeCell | None = None

    @property
    def decode(self) -> Callable[..., tuple[Any, Any]]:
        return importlib.import_module(BACKENDS[self.backend]).decode


def choose(step: Step, backend: str | None = None, where: Where | None = None) -> Choice:
    """The rung that was asked for, or the fastest that can do it, where the tensors are or `where` says."""
    is_here, where = where is None, where or where_is(step.q)
    asked = decided("attention_decode", backend, step.options.score_mod, where)
    if asked is not None:
        if asked[0] == "cuda" and not is_here:  # here the rung itself looks at it
            host_cuda.require_possible(step, where.shared)
        return Choice(*asked)
    obstacle = host_cuda.obstacle_to(step, where.shared)
    if obstacle is not None:
        return Choice("triton", f"CUDA C++ does not take it: {obstacle}")
    if where.capability is None:
        return Choice("cuda", "on the virtual GPU CUDA C++ is compiled sooner than Triton")
    return fastest(where.capability, step.cache.page_table is not None, size_of(step), step.batch)


def size_of(step: Step) -> int:
    """Bytes of the keys and values there is room for: a GPU would have to be asked how many there are."""
    return 2 * step.batch * step.cache.capacity * step.kv_heads * (step.dim + step.v_dim)


@functools.lru_cache(maxsize=1024)
def fastest(capability: tuple[int, int], is_paged: bool, size: int, batch: int) -> Choice:
    """By the nearest step that was measured on such a GPU; where none was, by what the rungs are good at."""
    cells = table().nearest_steps(capability, is_paged, size, batch)
    if not cells:
        return _by_layout(is_paged)
    cell = cells[0]
    is_same = (cell.size, cell.batch) == (size, batch)
    what = f"with {cell.place}" if is_same else f"with {cell.place}, the nearest that was"
    return Choice(cell.fastest, f"measured on {cell.gpu} {what}: {cell.times}", cell)


def _by_layout(is_paged: bool) -> Choice:
    unmeasured = "no measurement of this GPU is known; "
    if is_paged:
        return Choice("cuda", f"{unmeasured}CUDA C++ looks pages up ahead of their keys")
    why = "Triton has larger tiles under way, which a cache without pages feeds evenly"
    return Choice("triton", unmeasured + why)
