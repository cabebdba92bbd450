"""The attention ladder: its rungs from the formula to FlashAttention 2."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from flashpath.kernels.attention import tiled
from flashpath.kernels.attention.cases import case, cases, check, gradients, truth
from flashpath.kernels.attention.dispatch import chosen
from flashpath.kernels.attention.first_rungs import fused, naive, online_softmax, unfused
from flashpath.kernels.attention.flash_v1 import host as flash_v1
from flashpath.kernels.attention.flash_v2.cuda import host as cuda
from flashpath.kernels.attention.flash_v2.cuda import plans
from flashpath.kernels.attention.flash_v2.triton import host as triton
from flashpath.kernels.attention.messages import MESSAGES
from flashpath.kernels.attention.peers import peers
from flashpath.kernels.attention.problem import Options, Problem, prepare
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.building import cuda_compiles_for, triton_compiles_by
from flashpath.kernels.declines import backward_only, forward_only
from flashpath.kernels.rung import Case, Ladder, Rung
from flashpath.messages import Message, told

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
    import torch

    if len(inputs) == 4:
        q, k, v, options = inputs
        return formula(q, k, v, options)[0].to(q.dtype)
    dout, q, k, v, _, _, options = inputs
    return tuple(each.to(q.dtype) for each in gradients(dout, q, k, v, options, torch.float64))


# ---- What rungs decline ----------------------------------------------------------------------------------


def _small_forward(case: Case) -> Message | None:
    many = case.flops > _FEW_FLOPS
    return told("kernels.attention.slow", limit=_FEW_FLOPS) if many else forward_only(case)


def _tiny_forward(case: Case) -> Message | None:
    return told("kernels.attention.tiles-in-python") if case.flops > 2**28 else forward_only(case)


def _small_problem() -> Problem:
    """For a Triton rung to compile for."""
    import torch

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
    texts=MESSAGES,
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
        Rung.reference(FOLDER, _reference, declines=_small_forward),
        Rung(
            name="naive",
            language="pytorch",
            arch="any",
            file=FIRST / "naive.py",
            function=_forward(naive.forward),
            declines=forward_only,
            improves_on="reference",
            readability=5,
            debugging=5,
        ),
        Rung(
            name="naive_backward",
            language="pytorch",
            arch="any",
            file=FIRST / "naive.py",
            function=_backward(naive.backward),
            declines=backward_only,
            improves_on="naive",
            readability=5,
            debugging=5,
        ),
        Rung(
            name="tiled",
            language="pytorch",
            arch="any",
            file=FOLDER / "tiled.py",
            function=_forward(tiled.forward),
            declines=_tiny_forward,
            improves_on="naive",
            readability=5,
            debugging=5,
        ),
        _entry(
            name="unfused",
            file=FIRST / "triton_unfused.py",
            function=_forward(unfused.forward),
            improves_on="naive",
            compile_for=_compiles(unfused.forward),
            readability=5,
            debugging=5,
        ),
        _entry(
            name="fused",
            file=FIRST / "triton_fused.py",
            function=_forward(fused.forward),
            improves_on="unfused",
            compile_for=_compiles(fused.forward),
            readability=5,
            debugging=4,
        ),
        _entry(
            name="online_softmax",
            language="cuda",
            file=online_softmax.FILE,
            function=_forward(online_softmax.forward),
            declines=_small_forward,
            improves_on="fused",
            compile_for=cuda_compiles_for(
                online_softmax.FILE, online_softmax.kernel_name("bfloat16", 64, 64)
            ),
            readability=5,
            debugging=5,
        ),
        _entry(
            name="flash_v1_cuda",
            language="cuda",
            file=flash_v1.CUDA,
            function=_forward(flash_v1.cuda),
            declines=_small_forward,
            improves_on="online_softmax",
            compile_for=cuda_compiles_for(flash_v1.CUDA, "flash_v1<__nv_bfloat16>"),
            readability=4,
            debugging=4,
        ),
        _entry(
            name="flash_v1_triton",
            file=flash_v1.TRITON,
            function=_forward(flash_v1.triton),
            improves_on="flash_v1_cuda",
            compile_for=_compiles(flash_v1.triton),
            readability=4,
            debugging=3,
        ),
        _entry(
            name="flash_v2_triton",
            file=FOLDER / "flash_v2" / "triton" / "forward.py",
            function=_forward(triton.forward),
            improves_on="flash_v1_triton",
            compile_for=_compiles(triton.forward),
            readability=4,
            debugging=3,
        ),
        _entry(
            name="flash_v2_cuda",
            language="cuda",
            file=cuda.FORWARD,
            function=_forward(cuda.forward),
            improves_on="flash_v1_cuda",
            compile_for=_compiles_cuda(lambda: (cuda.FORWARD, _cuda_forward_name())),
            readability=3,
            debugging=3,
        ),
        _entry(
            name="flash_v2_triton_backward_adds",
            file=FOLDER / "flash_v2" / "triton" / "backward.py",
            function=_backward(triton.backward, adds_dq=True),
            declines=backward_only,
            improves_on="flash_v2_triton",
            compile_for=_compiles_backward(adds_dq=True),
            readability=3,
            debugging=3,
        ),
        _entry(
            name="flash_v2_cuda_backward",
            language="cuda",
            file=plans.PairsPlan.file,
            function=_backward(cuda.backward),
            declines=backward_only,
            improves_on="flash_v2_cuda",
            compile_for=_compiles_cuda(_cuda_backward),
            readability=2,
            debugging=3,
        ),
        _entry(
            name="flash_v2_triton_backward",
            file=FOLDER / "flash_v2" / "triton" / "backward_queries.py",
            function=_backward(triton.backward),
            declines=backward_only,
            improves_on="flash_v2_triton_backward_adds",
            compile_for=_compiles_backward(),
            readability=3,
            debugging=4,
        ),
    ),
)
