"""Which rung answers a call of `fp.attention`, and why: each direction for itself, by what was measured."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.choice import decided
from flashpath.kernels.attention.dispatch_table import Cell, table
from flashpath.kernels.attention.flash_v2.cuda import plans
from flashpath.kernels.attention.problem import PLAIN, Problem
from flashpath.kernels.where import Where, where_is

# Where each rung's forward(problem) and backward(problem, out, lse, dout, dlse, deterministic) are.
BACKENDS = {
    "triton": "flashpath.kernels.attention.flash_v2.triton.host",
    "cuda": "flashpath.kernels.attention.flash_v2.cuda.host",
}


@dataclass(frozen=True)
class Choice:
    """A rung, the reason in words, and the measurement that it was chosen by, if there is one."""

    backend: str
    why: str
    cell: Cell | None = None

    @property
    def forward(self) -> Callable[..., Any]:
        return importlib.import_module(BACKENDS[self.backend]).forward

    @property
    def backward(self) -> Callable[..., Any]:
        return importlib.import_module(BACKENDS[self.backend]).backward


def choose(
    problem: Problem, backend: str | None = None, direction: str = "forward", where: Where | None = None
) -> Choice:
    """The rung that was asked for, or the fastest that can do it, where the tensors are or `where` says."""
    where = where or where_is(problem.q)
    asked = decided(problem.operator, backend, problem.options.score_mod, where)
    if asked is not None:
        if asked[0] == "cuda" and not _has_tiles(direction, problem.dim, problem.v_dim, where.shared):
            _plan(direction)(problem, room=where.shared)  # says what it lacks
        return Choice(*asked)
    if where.capability is None:
        return Choice("cuda", "on the virtual GPU CUDA C++ is compiled sooner than Triton")
    dim, causal = max(problem.dim, problem.v_dim), problem.options.right >= 0
    found = fastest(where.capability, direction, dim, causal, problem.keys)
    if found.backend == "cuda" and not _has_tiles(direction, problem.dim, problem.v_dim, where.shared):
        return Choice(
            "triton",
            f"CUDA C++ has no tiles for dimensions of {problem.dim} and {problem.v_dim} that fit into "
            f"{where.shared:,} bytes of shared memory",
        )
    return found


@functools.lru_cache(maxsize=1024)
def fastest(capability: tuple[int, int], direction: str, dim: int, causal: bool, sequence: int) -> Choice:
    """By the nearest problem that was measured on such a GPU; where none was, by its instructions."""
    cells = table().nearest(capability, direction, dim, causal, sequence)
    if not cells:
        return _by_instructions(capability)
    cell = cells[0]
    is_same = (cell.dim, cell.sequence) == (dim, sequence)
    what = f"with {cell.place}" if is_same else f"with {cell.place}, the nearest that was"
    return Choice(cell.fastest, f"measured on {cell.gpu} {what}: {cell.times}", cell)


def _by_instructions(capability: tuple[int, int]) -> Choice:
    unmeasured = "no measurement of this GPU is known; "
    if capability[0] == 9:
        why = "Triton's compiler writes wgmma, with twice the speed of mma.sync on Hopper"
        return Choice("triton", unmeasured + why)
    if capability[0] == 10:
        return Choice("triton", f"{unmeasured}Triton's compiler writes tcgen05, and CUDA C++ here mma.sync")
    return Choice("cuda", f"{unmeasured}mma.sync is the fastest instruction that it has")


@functools.lru_cache(maxsize=1024)
def _has_tiles(direction: str, dim: int, v_dim: int, shared: int) -> bool:
    """Whether CUDA C++ can do it with so much shared memory."""
    import torch

    q, v = (torch.empty(1, 1, 1, n, dtype=torch.float16, device="meta") for n in (dim, v_dim))
    try:
        _plan(direction)(Problem(q, q, v, PLAIN), room=shared)
    except FlashpathError:
        return False
    return True


def _plan(direction: str) -> Callable[..., Any]:
    """Which refuses where there is none."""
    return plans.forward_plan if direction == "forward" else plans.backward_plan
