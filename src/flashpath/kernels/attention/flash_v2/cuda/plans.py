"""Which template of FlashAttention 2 in CUDA C++ a problem gets: tiles, warps and features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.problem import Options, Problem
from flashpath.kernels.building import CPP_TYPES, Defines, max_shared_per_block

FOLDER = Path(__file__).parent
QUERIES = FOLDER / "backward_queries.cu"


def padded(dim: int) -> int:
    """Returns the dimension as tiles have it: 32 columns at a time."""
    return -(-dim // 32) * 32


@dataclass(frozen=True)
class ForwardPlan:
    """The template of the same name, without what the tensors say: type and dimensions."""

    m: int  # queries of a block
    n: int  # keys of a step
    warps: int
    stages: int
    holds_q: bool
    blocks_per_sm: int

    @property
    def threads(self) -> int:
        return 32 * self.warps

    def shared(self, dim: int, v_dim: int) -> int:
        """Returns the bytes of q, and of a ring of k and v; a row of each takes panels of 128 bytes."""
        of_dim, of_v_dim = (-(-each // 64) * 128 for each in (dim, v_dim))
        return self.m * of_dim + self.stages * self.n * (of_dim + of_v_dim)

    def name(self, dtype: str, dim: int, v_dim: int) -> str:
        sizes = dim, v_dim, self.m, self.n, self.warps, self.stages
        last = f"{_boolean(self.holds_q)}, {self.blocks_per_sm}"
        return f"ForwardPlan<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}, {last}>"


def forward_plan(problem: Problem, room: int | None = None) -> ForwardPlan:
    """Chooses by the larger dimension and by the shared memory: `room`, or what the tensors' GPU has."""
    dim, v_dim = padded(problem.dim), padded(problem.v_dim)
    larger = max(dim, v_dim)
    plans = [
        *([ForwardPlan(128, 64, 4, 2, True, 2)] if larger <= 64 else []),
        *([ForwardPlan(128, 64, 4, 2, False, 2)] if larger <= 128 else []),
        ForwardPlan(128, 32, 8, 2, False, 1),
        ForwardPlan(64, 32, 4, 2, False, 1),
    ]
    room = max_shared_per_block(problem.q) if room is None else room
    for plan in plans:
        if plan.shared(dim, v_dim) <= room:
            return plan
    raise _no_room(problem, plans[-1].shared(dim, v_dim), room)


def _no_room(problem: Problem, wanted: int, room: int) -> FlashpathError:
    return FlashpathError("kernels.no-room", wanted=wanted, dim=problem.dim, v_dim=problem.v_dim, room=room)


@dataclass(frozen=True)
class BackwardPlan:
    """The template of the same name, without what the tensors say."""

    m: int  # queries of a step
    n: int  # keys of a block
    warps: int
    warps_q: int  # of these, over the queries, for the gradient of q
    blocks_per_sm: int
    passes: tuple[int, ...] = (7,)  # gradients of v (1), k (2) and q (4) that a launch computes
    kernel: ClassVar = "flash_v2_backward<BackwardPlan"
    file: ClassVar = FOLDER / "backward.cu"

    @property
    def threads(self) -> int:
        return 32 * self.warps

    def shared(self, dim: int, v_dim: int) -> int:
        """Returns the bytes of k, v, two stages of q, dout, lse, delta, and two of the scores' gradient."""
        of_dim, of_v_dim, of_m = (-(-each // 64) * 128 for each in (dim, v_dim, self.m))
        return (self.n + 2 * self.m) * (of_dim + of_v_dim) + 16 * self.m + 2 * self.n * of_m

    def name(self, dtype: str, dim: int, v_dim: int, parts: int) -> str:
        """Returns the kernel's name, with all of its template but the features."""
        sizes = dim, v_dim, self.m, self.n, self.warps, self.warps_q, parts, self.blocks_per_sm
        return f"{self.kernel}<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}>"


@dataclass(frozen=True)
class PairsPlan(BackwardPlan):
    """The template of the same name: two warps share their keys, and each has one gradient of them."""

    kernel: ClassVar = "flash_v2_backward_pairs<PairsPlan"
    file: ClassVar = FOLDER / "backward_pairs.cu"

    @staticmethod
    def takes(problem: Problem) -> bool:
        """Equal dimensions, with their padding; no derivatives of scores, for which it has no registers."""
        dim, v_dim, options = padded(problem.dim), padded(problem.v_dim), problem.options
        return dim == v_dim and dim in (64, 128) and not options.softcap and options.score_mod is None


def backward_plan(problem: Problem, deterministic: bool = False, room: int | None = None) -> BackwardPlan:
    """Chooses by the larger dimension and by the shared memory: `room`, or what the tensors' GPU has."""
    dim, v_dim = padded(problem.dim), padded(problem.v_dim)
    larger = max(dim, v_dim)
    plans: list[BackwardPlan] = []
    if PairsPlan.takes(problem):
        plans += [PairsPlan(32, 128, 4, 1, 2) if dim == 64 else PairsPlan(64, 128, 8, 2, 1)]
    elif larger <= 64:
        plans += [BackwardPlan(32, 128, 4, 1, 2) if dim == 64 else BackwardPlan(64, 128, 4, 2, 2)]
    elif larger <= 128 and dim % 64 == 0:
        plans += [BackwardPlan(64, 128, 8, 2, 1)]
    passes = (7,) if dim + v_dim <= 320 else (1, 6)
    plans += [
        BackwardPlan(64, 64, 4, 2, 1, passes),
        BackwardPlan(32, 64, 4, 1 if dim % 64 == 0 else 2, 1, passes),
    ]
    room = max_shared_per_block(problem.q) if room is None else room
    for plan in plans:
        if plan.shared(dim, v_dim) <= room:
            # The gradient of q has a kernel of its own where its bits must not change.
            return replace(plan, passes=tuple(parts & 3 for parts in plan.passes)) if deterministic else plan
    raise _no_room(problem, plans[-1].shared(dim, v_dim), room)


@dataclass(frozen=True)
class QueriesPlan:
    """The template of the same name, without what the tensors say."""

    m: int  # queries of a block
    n: int  # keys of a step
    warps: int
    blocks_per_sm: int

    @property
    def threads(self) -> int:
        return 32 * self.warps

    def shared(self, dim: int, v_dim: int) -> int:
        """Returns the bytes of q and dout, and of two stages of k and v."""
        of_dim, of_v_dim = (-(-each // 64) * 128 for each in (dim, v_dim))
        return (self.m + 2 * self.n) * (of_dim + of_v_dim)

    def name(self, dtype: str, dim: int, v_dim: int) -> str:
        sizes = dim, v_dim, self.m, self.n, self.warps, self.blocks_per_sm
        return f"flash_v2_backward_queries<QueriesPlan<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}>"


def queries_plan(problem: Problem) -> QueriesPlan:
    dim, v_dim = padded(problem.dim), padded(problem.v_dim)
    plans = [
        *([QueriesPlan(128, 32, 4, 2)] if max(dim, v_dim) <= 128 else []),
        QueriesPlan(64, 32, 4, 1),
        QueriesPlan(64, 16, 4, 1),
    ]
    room = max_shared_per_block(problem.q)
    for plan in plans:
        if plan.shared(dim, v_dim) <= room:
            return plan
    raise _no_room(problem, plans[-1].shared(dim, v_dim), room)


def features_of(problem: Problem) -> tuple[str, Defines]:
    """What of the options is compiled in: the template of that name, and the macros of a score_mod."""
    options = problem.options
    flags = (
        # The plain softmax takes maxima before it scales.
        problem.scale <= 0,
        options.softcap > 0,
        options.alibi_slopes is not None,
        options.score_mod is not None,
        options.dropout_p > 0,
        options.left >= 0 or options.right >= 0,
    )
    return f"Features<{', '.join(map(_boolean, flags))}>", _defines(options)


def _defines(options: Options) -> Defines:
    mod = options.score_mod
    if mod is None:
        return ()
    derivative = (("SCORE_MOD_DERIVATIVE", f"({mod.cuda_derivative})"),) if mod.cuda_derivative else ()
    return ("SCORE_MOD", f"({mod.form('cuda')})"), *derivative


def _boolean(value: bool) -> str:
    return "true" if value else "false"
