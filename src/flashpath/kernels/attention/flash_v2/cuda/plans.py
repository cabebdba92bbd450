"""Which template of FlashAttention 2 in CUDA C++ a problem gets: tiles, warps and features."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from flashpath.errors import FlashpathError
from flashpath.kernels.attention.problem import Options, Problem
from flashpath.kernels.building import CPP_TYPES, Defines, max_shared_per_block

FOLDER = Path(__file__).parent
BACKWARD, QUERIES = FOLDER / "backward.cu", FOLDER / "backward_queries.cu"


def padded(dim: int) -> int:
    """As tiles have it: 32 columns at a time."""
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
        """In bytes: q, and a ring of k and v; a row of each takes panels of 128 bytes."""
        of_dim, of_v_dim = (-(-each // 64) * 128 for each in (dim, v_dim))
        return self.m * of_dim + self.stages * self.n * (of_dim + of_v_dim)

    def name(self, dtype: str, dim: int, v_dim: int) -> str:
        sizes = dim, v_dim, self.m, self.n, self.warps, self.stages
        last = f"{_boolean(self.holds_q)}, {self.blocks_per_sm}"
        return f"ForwardPlan<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}, {last}>"


def forward_plan(problem: Problem, room: int | None = None) -> ForwardPlan:
    """By the larger dimension, and by the shared memory that there is: `room`, or what the tensors' GPU has.

    On an H200, 512 to 16384 tokens in bfloat16, times the speed of torch's FlashAttention 2: 1.10 to 1.17
    with dimensions of 64 and 1.11 to 1.15 with 128; under a causal mask 1.13 to 1.25 and 1.23 to 1.30. Slower
    were 32 keys a step, 8 warps of 16 queries, 256 queries a block, and 168 registers for a third block.
    """
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
    return FlashpathError(
        f"flash_v2 in CUDA C++ needs {wanted} bytes of shared memory for dimensions of "
        f"{problem.dim} and {problem.v_dim}; a block of this GPU has {room}.",
        "Use a rung of flash_v2 in Triton.",
    )


@dataclass(frozen=True)
class BackwardPlan:
    """The template of the same name, without what the tensors say."""

    m: int  # queries of a step
    n: int  # keys of a block
    warps: int
    warps_q: int  # of these, over the queries, for the gradient of q
    blocks_per_sm: int
    passes: tuple[int, ...] = (7,)  # gradients of v (1), k (2) and q (4) that a launch computes

    @property
    def threads(self) -> int:
        return 32 * self.warps

    def shared(self, dim: int, v_dim: int) -> int:
        """In bytes: k and v; two stages of q, dout, lse and delta; two places of the scores' gradient."""
        of_dim, of_v_dim, of_m = (-(-each // 64) * 128 for each in (dim, v_dim, self.m))
        return (self.n + 2 * self.m) * (of_dim + of_v_dim) + 16 * self.m + 2 * self.n * of_m

    def name(self, dtype: str, dim: int, v_dim: int, parts: int) -> str:
        """Of the kernel, with all of its template but the features."""
        sizes = dim, v_dim, self.m, self.n, self.warps, self.warps_q, parts, self.blocks_per_sm
        return f"flash_v2_backward<BackwardPlan<{CPP_TYPES[dtype]}, {', '.join(map(str, sizes))}>"


def backward_plan(problem: Problem, deterministic: bool = False, room: int | None = None) -> BackwardPlan:
    """By the larger dimension, and by the shared memory that there is: `room`, or what the tensors' GPU has.

    On an H200, 512 to 16384 tokens in bfloat16, times the speed of torch's FlashAttention 2: 1.07 to 1.14
    with dimensions of 64, 0.94 to 1.00 with 128, where shared memory is busy 78% of the time. These are with
    heads in sets that fit in the L2 cache; under a causal mask all at once has not been measured.
    """
    dim, v_dim = padded(problem.dim), padded(problem.v_dim)
    larger = max(dim, v_dim)
    if larger <= 64:
        plans = [BackwardPlan(32, 128, 4, 1, 2)] if dim == 64 else [BackwardPlan(64, 128, 4, 2, 2)]
    elif larger <= 128 and dim % 64 == 0:
        plans = [BackwardPlan(64, 128, 8, 2, 1)]
    else:
        plans = []
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
        """In bytes: q and dout; two stages of k and v."""
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
