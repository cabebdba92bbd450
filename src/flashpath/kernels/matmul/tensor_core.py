"""The rungs on tensor cores in CUDA C++: half types and tf32, with instructions of sm_80."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.kernels.arguments import FLOATS, widest_pack
from flashpath.kernels.building import (
    CPP_TYPES,
    cuda_compiles_for,
    cuda_kernel,
    cuda_rung,
    dtype_name,
    sm_count,
)
from flashpath.kernels.matmul.epilogue import ACTIVATIONS, Epilogue
from flashpath.kernels.matmul.problem import FOLDER, Problem, prepare, takes_only
from flashpath.kernels.rung import Case, Rung
from flashpath.messages import Message, told

WMMA = FOLDER / "wmma.cu"
MMA_LDMATRIX = FOLDER / "mma_ldmatrix.cu"
MMA_PIPELINED = FOLDER / "mma_pipelined.cu"
EPILOGUE = FOLDER / "epilogue.cuh"

SIMPLE_TILE = 128  # rows and columns of a block of the first two
SIMPLE_THREADS = 256


@dataclass(frozen=True)
class Plan:
    """How a block of mma_pipelined goes about its work; the template of the same name."""

    m: int
    n: int
    warp_m: int
    warp_n: int
    stages: int
    blocks_per_sm: int
    row_bytes: int = 128

    @property
    def threads(self) -> int:
        return 32 * (self.m // self.warp_m) * (self.n // self.warp_n)

    @property
    def shared(self) -> int:
        """Returns the bytes: a stage has row_bytes of each row of A, and B's rows for the columns in them."""
        return self.stages * (self.m + self.n) * self.row_bytes

    def tiles(self, m: int, n: int) -> int:
        return -(-m // self.m) * -(-n // self.n)

    def __str__(self) -> str:
        sizes = self.m, self.n, self.row_bytes, self.warp_m, self.warp_n, self.stages, self.blocks_per_sm
        return f"Plan<{', '.join(map(str, sizes))}>"


LARGE = Plan(128, 256, 64, 64, stages=3, blocks_per_sm=1)
# For results that LARGE has no block for every SM for.
SMALL = Plan(64, 128, 32, 64, stages=3, blocks_per_sm=2)
# What else `flashpath tune` tries: squares by two blocks of an SM, more stages, steps of twice the length.
MORE_PLANS = (
    Plan(128, 128, 64, 64, stages=3, blocks_per_sm=2),
    Plan(128, 256, 64, 64, stages=4, blocks_per_sm=1),
    Plan(128, 256, 64, 64, stages=2, blocks_per_sm=1, row_bytes=256),
)


def wmma(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    return _simple(WMMA, a, b, precision, out)


def mma_ldmatrix(a: Any, b: Any, precision: str = "ieee", out: Any | None = None) -> Any:
    return _simple(MMA_LDMATRIX, a, b, precision, out)


def mma_pipelined(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, *, plan: Plan | None = None
) -> Any:
    return _pipelined(a, b, _prepare(a, b, precision, out), "Plain", Epilogue(), plan)


def fused(
    a: Any,
    b: Any,
    precision: str = "ieee",
    out: Any | None = None,
    epilogue: Epilogue | None = None,
    *,
    plan: Plan | None = None,
) -> Any:
    """mma_pipelined with an epilogue in the same kernel."""
    problem, after = _prepare(a, b, precision, out), epilogue or Epilogue()
    after.check(problem.out)
    functor = f"Fused<{ACTIVATIONS[after.activation]}, {_boolean(after.mask is not None)}>"
    return _pipelined(a, b, problem, functor, after, plan)


def unfused(
    a: Any, b: Any, precision: str = "ieee", out: Any | None = None, epilogue: Epilogue | None = None
) -> Any:
    """mma_pipelined, and torch's kernels for every step after it."""
    after, product = epilogue or Epilogue(), mma_pipelined(a, b, precision, out)
    after.check(product)
    result = after(product)
    return result if out is None else out.copy_(result)


# ---- Launches ------------------------------------------------------------------------------------------


def _prepare(a: Any, b: Any, precision: str, out: Any | None) -> Problem:
    return prepare(a, b, precision, out, dtypes=FLOATS, precisions=("tf32",))


def _is_aligned(a: Any, b: Any, problem: Problem) -> bool:
    """Whether every row of every matrix begins at a multiple of 16 bytes."""
    # A power of two divides both where it divides all their bits together.
    return widest_pack(a, b, problem.out, multiple=problem.n | problem.k) * a.element_size() == 16


def _boolean(value: bool) -> str:
    return "true" if value else "false"


def _simple(file: Path, a: Any, b: Any, precision: str, out: Any | None) -> Any:
    m, n, k, result = problem = _prepare(a, b, precision, out)
    if m and n:
        arguments = f"{CPP_TYPES[dtype_name(a)]}, {_boolean(_is_aligned(a, b, problem))}"
        kernel = cuda_kernel(file, f"matmul_{file.stem}<{arguments}>", a)
        blocks = -(-m // SIMPLE_TILE) * -(-n // SIMPLE_TILE)
        kernel[blocks, SIMPLE_THREADS](m, n, k, a, b, result)
    return result


def _pipelined(a: Any, b: Any, problem: Problem, functor: str, after: Epilogue, plan: Plan | None) -> Any:
    m, n, k, out = problem
    if m and n:
        aligned = _is_aligned(a, b, problem)
        if aligned and after.mask is not None:
            aligned = after.mask.data_ptr() % 8 == 0
        plan = plan or (LARGE if aligned and LARGE.tiles(m, n) >= sm_count(a) else SMALL)
        arguments = f"{CPP_TYPES[dtype_name(a)]}, {plan}, {functor}, {_boolean(aligned)}"
        kernel = cuda_kernel(MMA_PIPELINED, f"matmul_mma_pipelined<{arguments}>", a)
        blocks = min(plan.tiles(m, n), plan.blocks_per_sm * sm_count(a))  # each takes tile after tile
        kernel[blocks, plan.threads, plan.shared](m, n, k, a, b, out, after.scale, after.bias, after.mask)
    return out


# ---- Entries -------------------------------------------------------------------------------------------

_takes = takes_only(FLOATS, ("tf32",))


def epilogues_only(case: Case) -> Message | None:
    """For the `declines` of rungs that are about what follows a product."""
    return _takes(case) if case.parameters.get("epilogue") else told("kernels.matmul.epilogues-only")


def products_only(case: Case) -> Message | None:
    """For the `declines` of rungs that have no epilogue."""
    return told("kernels.matmul.no-epilogue") if case.parameters.get("epilogue") else _takes(case)


_cuda = functools.partial(cuda_rung, arch="sm_80")
_PLANS = {"plan": (LARGE, SMALL, *MORE_PLANS)}

RUNGS = (
    _cuda(
        wmma,
        "matmul_wmma<__nv_bfloat16, true>",
        declines=products_only,
        improves_on="warp_tiled",
        readability=4,
        debugging=3,
    ),
    _cuda(
        mma_ldmatrix,
        "matmul_mma_ldmatrix<__nv_bfloat16, true>",
        declines=products_only,
        improves_on="wmma",
        readability=3,
        debugging=2,
    ),
    _cuda(
        mma_pipelined,
        f"matmul_mma_pipelined<__nv_bfloat16, {LARGE}, Plain, true>",
        declines=products_only,
        choices=_PLANS,
        improves_on="mma_ldmatrix",
        readability=2,
        debugging=2,
    ),
    _cuda(
        unfused,
        f"matmul_mma_pipelined<__nv_bfloat16, {LARGE}, Plain, true>",
        file=MMA_PIPELINED,
        declines=epilogues_only,
        improves_on="reference",
        readability=5,
        debugging=5,
    ),
    Rung(
        name="fused",
        arch="sm_80",
        file=EPILOGUE,
        function=fused,
        declines=epilogues_only,
        choices=_PLANS,
        improves_on="unfused",
        compile_for=cuda_compiles_for(
            MMA_PIPELINED, f"matmul_mma_pipelined<__nv_bfloat16, {LARGE}, Fused<Gelu, false>, true>"
        ),
        readability=4,
        debugging=3,
    ),
)
