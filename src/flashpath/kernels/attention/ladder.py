"""The attention ladder: its rungs from the formula to FlashAttention 2."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from flashpath.kernels.attention import tiled
from flashpath.kernels.attention.cases import case, cases, check, gradients, truth
from flashpath.kernels.attention.dispatch import chosen
from flashpath.kernels.attention.first_rungs import fused, naive, online_softmax, unfused
from flashpath.kernels.attention.flash_v1 import host as flash_v1
from flashpath.kernels.attention.flash_v2.cuda import host as cuda
from flashpath.kernels.attention.flash_v2.cuda import plans
from flashpath.kernels.attention.flash_v2.triton import host as triton
from flashpath.kernels.attention.peers import forward_only, peers
from flashpath.kernels.attention.problem import Options, Problem, prepare
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.building import cuda_compiles_for, triton_compiles_by
from flashpath.kernels.rung import Case, Ladder, Rung, Score
from flashpath.messages import Text

FOLDER = Path(__file__).parent
FIRST = FOLDER / "first_rungs"
# FLOPs up to which rungs without tensor cores, or with one block for a head, are timed.
_FEW_FLOPS = 2**37


def _sized(size: tuple[int, ...]) -> Case:
    batch, sequence, heads, dim = size
    return case("forward", batch, sequence, heads, dim, causal=True)


def _more_samples() -> Sequence[Case]:
    return [case("backward", 1, 128, 2, 64, causal=True)]


# ---- Rungs as functions of a case's inputs ---------------------------------------------------------------


def _forward(host: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    def run(q: Any, k: Any, v: Any, options: Options) -> Any:
        return host(prepare(q, k, v, options))[0]

    return run


def _backward(host: Callable[..., tiled.Gradients], **more: Any) -> Callable[..., Any]:
    def run(dout: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, options: Options) -> Any:
        return host(prepare(q, k, v, options), out, lse, dout, **more)[:3]

    return run


def _reference(*inputs: Any) -> Any:
    if len(inputs) == 4:
        q, k, v, options = inputs
        return formula(q, k, v, options)[0].to(q.dtype)
    dout, q, k, v, _, _, options = inputs
    return tuple(each.to(q.dtype) for each in gradients(dout, q, k, v, options, torch.float64))


# ---- What rungs decline ----------------------------------------------------------------------------------


def _backward_only(case: Case) -> str | None:
    return None if case.parameters["direction"] == "backward" else "is the backward direction"


def _small_forward(case: Case) -> str | None:
    many = case.flops > _FEW_FLOPS
    return f"is timed up to {_FEW_FLOPS:,} FLOPs: it is slow" if many else forward_only(case)


def _tiny_forward(case: Case) -> str | None:
    many = case.flops > 2**28
    return "is an explanation: loops over tiles in Python" if many else forward_only(case)


def _small_problem() -> Problem:
    """For a Triton rung to compile for."""
    q, k, v = (torch.zeros(1, 256, 1, 64, dtype=torch.bfloat16) for _ in range(3))
    return prepare(q, k, v, Options(causal=True))


def _cuda_forward_name() -> str:
    problem = _small_problem()
    features, _ = plans.features_of(problem)
    return f"flash_v2_forward<{plans.forward_plan(problem).name('bfloat16', 64, 64)}, {features}>"


def _cuda_backward() -> tuple[Path, str]:
    """The file that has it, and the kernel's name."""
    problem = _small_problem()
    features, _ = plans.features_of(problem)
    plan = plans.backward_plan(problem)
    return plan.file, f"{plan.name('bfloat16', 64, 64, plan.passes[0])}, {features}>"


def _compiles_cuda(kernel: Callable[[], tuple[Path, str]]) -> Callable[[str], object]:
    """For a kernel whose name depends on the GPU, which is not asked before there is something to compile."""
    return lambda arch: cuda_compiles_for(*kernel())(arch)


def _compiles(host: Callable[..., Any]) -> Callable[[str], object]:
    return triton_compiles_by(lambda: host(_small_problem()))


def _compiles_backward(**more: Any) -> Callable[[str], object]:
    def run() -> object:
        problem = _small_problem()
        return triton.backward(problem, problem.new_out(), problem.new_lse(), problem.new_out(), **more)

    return triton_compiles_by(run)


_entry = functools.partial(Rung, arch="sm_80", language="triton", declines=forward_only)

LADDER = Ladder(
    name="attention",
    title=Text("Attention", "注意力"),
    maths=Text(
        "s = scale q kᵀ, p = softmax(s), out = p v for every head; backward: dv = pᵀ dout, ds = p "
        "(dout vᵀ - Σ dout · out), dq = scale ds k, dk = scale dsᵀ q",
        "对每个头：s = scale q kᵀ，p = softmax(s)，out = p v；反向：dv = pᵀ dout，ds = p (dout vᵀ - Σ dout · "
        "out)，dq = scale ds k，dk = scale dsᵀ q",
    ),
    cases=cases,
    peers=peers,
    check=check,
    truth=truth,
    dimensions=("batch", "sequence", "heads", "dim"),
    sized=_sized,
    sample=(1, 128, 2, 64),
    more_samples=_more_samples,
    chooses=chosen,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text("the formula in float64, rounded once", "按公式用 float64 计算，只舍入一次"),
            file=FOLDER / "reference.py",
            function=_reference,
            declines=_small_forward,
            readability=Score(5, "a line for each line of the formula"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        Rung(
            name="naive",
            language="pytorch",
            arch="any",
            idea=Text(
                "the formula in PyTorch, in the type of its inputs: all scores are written, and read again",
                "用 PyTorch 按公式计算，类型与输入相同：所有分数都写入内存，再读回来",
            ),
            file=FIRST / "naive.py",
            function=_forward(naive.forward),
            declines=forward_only,
            improves_on="reference",
            readability=Score(5, "matmul, softmax, matmul"),
            debugging=Score(5, "every intermediate is a tensor"),
        ),
        Rung(
            name="naive_backward",
            language="pytorch",
            arch="any",
            idea=Text(
                "gradients of that by torch: all weights, which nobody kept, are made again",
                "由 torch 求它的梯度：没有保留的权重要全部重算",
            ),
            file=FIRST / "naive.py",
            function=_backward(naive.backward),
            declines=_backward_only,
            improves_on="naive",
            readability=Score(5, "the formula, and torch.autograd"),
            debugging=Score(5, "every intermediate is a tensor"),
        ),
        Rung(
            name="tiled",
            language="pytorch",
            arch="any",
            idea=Text(
                "FlashAttention 2 in PyTorch: the algorithm of the kernels, tile by tile",
                "用 PyTorch 写的 FlashAttention 2：与核函数相同的算法，逐分块进行",
            ),
            file=FOLDER / "tiled.py",
            function=_forward(tiled.forward),
            declines=_tiny_forward,
            improves_on="naive",
            readability=Score(5, "the paper's algorithm, line by line"),
            debugging=Score(5, "every tile can be printed"),
        ),
        _entry(
            name="unfused",
            idea=Text(
                "the three steps as kernels: scores with their mask, softmax of rows, weights times values",
                "三步各一个核函数：带掩码的分数、逐行 softmax、权重乘以值",
            ),
            file=FIRST / "triton_unfused.py",
            function=_forward(unfused.forward),
            improves_on="naive",
            compile_for=_compiles(unfused.forward),
            readability=Score(5, "three short kernels"),
            debugging=Score(5, "scores and weights lie in memory between the launches"),
        ),
        _entry(
            name="fused",
            idea=Text(
                "one kernel, no scores in memory: computed for maximum and sum, and again to use",
                "一个核函数，分数不写内存：先为最大值与和算一遍，使用时再算一遍",
            ),
            file=FIRST / "triton_fused.py",
            function=_forward(fused.forward),
            improves_on="unfused",
            compile_for=_compiles(fused.forward),
            readability=Score(5, "two loops, as softmax is defined"),
            debugging=Score(4, "prints and asserts work"),
        ),
        _entry(
            name="online_softmax",
            language="cuda",
            idea=Text(
                "the update rule alone: keys one by one, m, l and o corrected as a larger score comes",
                "只看更新规则：逐个处理键，出现更大的分数时修正 m、l 和 o",
            ),
            file=online_softmax.FILE,
            function=_forward(online_softmax.forward),
            declines=_small_forward,
            improves_on="fused",
            compile_for=cuda_compiles_for(
                online_softmax.FILE, online_softmax.kernel_name("bfloat16", 64, 64)
            ),
            readability=Score(5, "one loop, five lines of maths"),
            debugging=Score(5, "a warp for each query: m, l and o can be printed at every key"),
        ),
        _entry(
            name="flash_v1_cuda",
            language="cuda",
            idea=Text(
                "FlashAttention 1: keys outside, queries inside; o, m and l wait in memory between steps",
                "FlashAttention 1：外层循环是键，内层是查询；o、m、l 在各步之间存放在内存里",
            ),
            file=flash_v1.CUDA,
            function=_forward(flash_v1.cuda),
            declines=_small_forward,
            improves_on="online_softmax",
            compile_for=cuda_compiles_for(flash_v1.CUDA, "flash_v1<__nv_bfloat16>"),
            readability=Score(4, "the paper's algorithm with its two loops"),
            debugging=Score(4, "one block for each head can be followed alone"),
        ),
        _entry(
            name="flash_v1_triton",
            idea=Text("the same in Triton, on tensor cores", "同样的算法，用 Triton 写，使用张量核心"),
            file=flash_v1.TRITON,
            function=_forward(flash_v1.triton),
            improves_on="flash_v1_cuda",
            compile_for=_compiles(flash_v1.triton),
            readability=Score(4, "two loops of array code"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
        _entry(
            name="flash_v2_triton",
            idea=Text(
                "FlashAttention 2: queries outside; o, m and l stay in registers; masks only where needed",
                "FlashAttention 2：外层循环是查询；o、m、l 一直留在寄存器里；只在需要处加掩码",
            ),
            file=FOLDER / "flash_v2" / "triton" / "forward.py",
            function=_forward(triton.forward),
            improves_on="flash_v1_triton",
            compile_for=_compiles(triton.forward),
            readability=Score(4, "one loop; what is not asked for is not there"),
            debugging=Score(3, "prints and asserts work; what threads do is the compiler's secret"),
        ),
        _entry(
            name="flash_v2_cuda",
            language="cuda",
            idea=Text(
                "the same in CUDA C++: mma.sync, ldmatrix, cp.async; weights stay in registers",
                "同样的算法，用 CUDA C++ 写：mma.sync、ldmatrix、cp.async；权重留在寄存器里",
            ),
            file=cuda.FORWARD,
            function=_forward(cuda.forward),
            improves_on="flash_v1_cuda",
            compile_for=_compiles_cuda(lambda: (cuda.FORWARD, _cuda_forward_name())),
            readability=Score(3, "the fragments of mma.sync have to be known by heart"),
            debugging=Score(3, "every part has a test of its own; registers can only be printed"),
        ),
        _entry(
            name="flash_v2_triton_backward_adds",
            idea=Text(
                "gradients with the scores computed again; dk and dv in registers, dq added up in memory",
                "重算分数来求梯度；dk、dv 在寄存器里，dq 在内存里累加",
            ),
            file=FOLDER / "flash_v2" / "triton" / "backward.py",
            function=_backward(triton.backward, adds_dq=True),
            declines=_backward_only,
            improves_on="flash_v2_triton",
            compile_for=_compiles_backward(adds_dq=True),
            readability=Score(3, "five products, and which of them is transposed"),
            debugging=Score(3, "each gradient can be compared with tiled.py's"),
        ),
        _entry(
            name="flash_v2_cuda_backward",
            language="cuda",
            idea=Text(
                "the same in CUDA C++: of two warps that share their keys, one has dv, the other dk",
                "同样的算法，用 CUDA C++ 写：共用键的两个 warp，一个算 dv，另一个算 dk",
            ),
            file=plans.PairsPlan.file,
            function=_backward(cuda.backward),
            declines=_backward_only,
            improves_on="flash_v2_cuda",
            compile_for=_compiles_cuda(_cuda_backward),
            readability=Score(2, "five products of fragments, two of them transposed"),
            debugging=Score(3, "each gradient can be compared with tiled.py's"),
        ),
        _entry(
            name="flash_v2_triton_backward",
            idea=Text(
                "a kernel of its own for dq: two products more, no sums in memory, the same bits always",
                "dq 单独一个核函数：多两次乘积，不在内存里累加，每次结果逐位相同",
            ),
            file=FOLDER / "flash_v2" / "triton" / "backward_queries.py",
            function=_backward(triton.backward),
            declines=_backward_only,
            improves_on="flash_v2_triton_backward_adds",
            compile_for=_compiles_backward(),
            readability=Score(3, "the forward loop again, with other products"),
            debugging=Score(4, "the same bits every time"),
        ),
    ),
)
