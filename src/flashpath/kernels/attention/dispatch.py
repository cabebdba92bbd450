"""Which rung answers a call of `fp.attention`, and why: each direction for itself, by what was measured."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.choice import VIRTUAL, decided, unmeasured
from flashpath.kernels.attention.dispatch_table import RUNGS, table
from flashpath.kernels.attention.flash_v2.cuda import plans
from flashpath.kernels.attention.problem import PLAIN, Problem
from flashpath.kernels.rung import Rung
from flashpath.kernels.where import Where, where_is
from flashpath.messages import Message

# Where each rung's forward(problem) and backward(problem, out, lse, dout, dlse, deterministic) are.
BACKENDS = {
    "triton": "flashpath.kernels.attention.flash_v2.triton.host",
    "cuda": "flashpath.kernels.attention.flash_v2.cuda.host",
}


def host_of(rung: Rung) -> Any:
    """Returns the module that has a chosen rung's forward and backward."""
    return importlib.import_module(BACKENDS[rung.language])


def chosen(
    problem: Problem, backend: str | None = None, *, direction: str = "forward", where: Where | None = None
) -> tuple[str, Message]:
    """Returns the rung that was asked for, or the fastest that can do it, and why."""
    language, why = _language(problem, backend, direction, where or where_is(problem.q))
    return RUNGS[direction][language], why


def _language(problem: Problem, backend: str | None, direction: str, where: Where) -> tuple[str, Message]:
    asked = decided(problem.operator, backend, problem.options.score_mod, where)
    if asked is not None:
        if asked[0] == "cuda" and not _has_tiles(direction, problem.dim, problem.v_dim, where.shared):
            _plan(direction)(problem, room=where.shared)  # says what it lacks
        return asked
    if where.capability is None:
        return "cuda", VIRTUAL
    dim, causal = max(problem.dim, problem.v_dim), problem.options.right >= 0
    language, why = fastest(where.capability, direction, dim, causal, problem.keys)
    if language == "cuda" and not _has_tiles(direction, problem.dim, problem.v_dim, where.shared):
        sizes = {"dim": problem.dim, "v_dim": problem.v_dim, "room": where.shared}
        return "triton", Message("kernels.no-tiles", sizes)
    return language, why


@functools.lru_cache(maxsize=1024)
def fastest(
    capability: tuple[int, int], direction: str, dim: int, causal: bool, sequence: int
) -> tuple[str, Message]:
    """Chooses by the nearest problem that was measured on such a GPU; where none was, by its instructions."""
    cells = table().nearest(capability, direction, dim, causal, sequence)
    if not cells:
        return _by_instructions(capability)
    cell = cells[0]
    return cell.fastest, cell.why((cell.dim, cell.sequence) == (dim, sequence))


def _by_instructions(capability: tuple[int, int]) -> tuple[str, Message]:
    if capability[0] == 9:
        return "triton", unmeasured(Message("kernels.triton-wgmma"))
    if capability[0] == 10:
        return "triton", unmeasured(Message("kernels.triton-tcgen05"))
    return "cuda", unmeasured(Message("kernels.cuda-mma"))


@functools.lru_cache(maxsize=1024)
def _has_tiles(direction: str, dim: int, v_dim: int, shared: int) -> bool:
    """Whether CUDA C++ has tiles that fit into so much shared memory."""
    import torch

    q, v = (torch.empty(1, 1, 1, n, dtype=torch.float16, device="meta") for n in (dim, v_dim))
    try:
        _plan(direction)(Problem(q, q, v, PLAIN), room=shared)
    except FlashpathError:
        return False
    return True


def _plan(direction: str) -> Callable[..., Any]:
    """Returns the function that finds a plan, and refuses where there is none."""
    return plans.forward_plan if direction == "forward" else plans.backward_plan
