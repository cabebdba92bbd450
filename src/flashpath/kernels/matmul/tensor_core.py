"""The rungs on tensor cores in CUDA C++: half types and tf32, with instructions of sm_80."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.kernels.arguments import FLOATS, widest_pack
from flashpath.kernels.building import CPP_TYPES, cuda_compiles_for, cuda_kernel, dtype_name, sm_count
from flashpath.kernels.matmul.epilogue import ACTIVATIONS, Epilogue
from flashpath.kernels.matmul.problem import FOLDER, Problem, prepare, takes_only
from flashpath.kernels.rung import Case, Rung, Score
from flashpath.messages import Text

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
    return widest_pack(a, b, problem.out, multiple=math.gcd(problem.n, problem.k)) * a.element_size() == 16


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


def epilogues_only(case: Case) -> str | None:
    """For the `declines` of rungs that are about what follows a product."""
    return _takes(case) if case.parameters.get("epilogue") else "is for products with an epilogue"


def products_only(case: Case) -> str | None:
    """For the `declines` of rungs that have no epilogue."""
    return "has no epilogue" if case.parameters.get("epilogue") else _takes(case)


_entry = functools.partial(Rung, arch="sm_80", language="cuda")
_PLANS = {"plan": (LARGE, SMALL, *MORE_PLANS)}

RUNGS = (
    _entry(
        name="wmma",
        idea=Text(
            "a warp multiplies 16 × 16 × 16 at once, through the C++ interface of the tensor cores",
            "一个 warp 通过张量核心的 C++ 接口一次乘 16 × 16 × 16",
        ),
        file=WMMA,
        function=wmma,
        declines=products_only,
        improves_on="warp_tiled",
        compile_for=cuda_compiles_for(WMMA, "matmul_wmma<__nv_bfloat16, true>"),
        readability=Score(4, "load, multiply, store; what a lane holds need not be known"),
        debugging=Score(3, "fragments cannot be looked into, only stored"),
    ),
    _entry(
        name="mma_ldmatrix",
        idea=Text(
            "the instructions themselves: ldmatrix hands over what mma.sync wants, four matrices at a time",
            "直接用指令：ldmatrix 按 mma.sync 的要求一次取四个矩阵",
        ),
        file=MMA_LDMATRIX,
        function=mma_ldmatrix,
        declines=products_only,
        improves_on="wmma",
        compile_for=cuda_compiles_for(MMA_LDMATRIX, "matmul_mma_ldmatrix<__nv_bfloat16, true>"),
        readability=Score(3, "one has to know which lane holds what"),
        debugging=Score(2, "a wrong lane gives a wrong number somewhere, and no error"),
    ),
    _entry(
        name="mma_pipelined",
        idea=Text(
            "cp.async fills a ring of swizzled tiles ahead of the tensor cores, which never wait for memory",
            "cp.async 提前填好一圈交错存放（swizzle）的分块，张量核心从不等待内存",
        ),
        file=MMA_PIPELINED,
        function=mma_pipelined,
        declines=products_only,
        choices=_PLANS,
        improves_on="mma_ldmatrix",
        compile_for=cuda_compiles_for(
            MMA_PIPELINED, f"matmul_mma_pipelined<__nv_bfloat16, {LARGE}, Plain, true>"
        ),
        readability=Score(2, "four ideas at once, none of them visible in the maths"),
        debugging=Score(2, "a missing wait shows once in a while; fp.sanitize sees it"),
    ),
    _entry(
        name="unfused",
        idea=Text(
            "the product, then scale, bias, activation and mask, each a pass over memory of its own",
            "先算乘积，再缩放、加偏置、激活、加掩码，每一步都单独过一遍内存",
        ),
        file=MMA_PIPELINED,
        function=unfused,
        uncounted=Text(
            "torch's passes are not counted: each step after the product reads and writes it again",
            "torch 的各遍不计入：乘积之后的每一步都要再读写一遍",
        ),
        declines=epilogues_only,
        improves_on="reference",
        compile_for=cuda_compiles_for(
            MMA_PIPELINED, f"matmul_mma_pipelined<__nv_bfloat16, {LARGE}, Plain, true>"
        ),
        readability=Score(5, "one step after the other"),
        debugging=Score(5, "every step's result can be looked at"),
    ),
    _entry(
        name="fused",
        idea=Text(
            "the same steps in the product's own kernel, on sums that are still in registers",
            "同样的步骤放进乘积自己的核函数，在还留在寄存器里的和上进行",
        ),
        file=EPILOGUE,
        function=fused,
        declines=epilogues_only,
        choices=_PLANS,
        improves_on="unfused",
        compile_for=cuda_compiles_for(
            MMA_PIPELINED, f"matmul_mma_pipelined<__nv_bfloat16, {LARGE}, Fused<Gelu, false>, true>"
        ),
        readability=Score(4, "a functor; where it is called is another file's business"),
        debugging=Score(3, "product and steps are seen together only"),
    ),
)
