"""The rms_norm ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.common.norm import cases, read_twice, rows
from flashpath.kernels.common.norm.arguments import is_backward
from flashpath.kernels.peers import library
from flashpath.kernels.rms_norm import host, reference
from flashpath.kernels.rung import Ladder, Rung, Score
from flashpath.messages import Text

_NORM = cases.Norm(centered=False, eps=host.EPS, formulas=reference)


def _torch_backward(dy: Any, x: Any, weight: Any, rstd: Any) -> tuple[Any, Any]:
    """PyTorch's own kernels, as autograd calls them."""
    import torch

    own: Any = torch.ops.aten._fused_rms_norm_backward
    return own(dy, x, x.shape[1:], rstd[:, None], weight, [True, True])


def _liger(norm: Any, added: Any, settings: Any, *inputs: Any) -> Any:
    if is_backward(inputs):
        dy, x, weight, rstd = inputs
        block, warps = settings(x.shape[1])
        return norm.rms_norm_backward(dy, x, weight, rstd, 0.0, 0, block, warps, False, None)
    if len(inputs) == 4:
        x, weight, eps, residual = inputs
        return added.fused_add_rms_norm_forward(x, residual, weight, eps, 0.0, "llama")[:2]
    return norm.rms_norm_forward(*inputs, 0.0, "llama", None)[0]


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    peers = _NORM.torch_peers(device, _torch_backward)
    if device == "cuda" and (norm := library("liger_kernel.ops.rms_norm")):
        added = library("liger_kernel.ops.fused_add_rms_norm")
        settings: Any = library("liger_kernel.ops.utils")
        peers["Liger"] = functools.partial(_liger, norm, added, settings.calculate_settings)
    return peers


_entry = functools.partial(Rung, arch="sm_75")
_BF16 = "__nv_bfloat16, __nv_bfloat16"

LADDER = Ladder(
    name="rms_norm",
    title=Text("RMS norm", "RMS 归一化（RMS norm）"),
    maths=Text(
        "out = x / sqrt(Σ x² / n + eps) * weight of each row, of x + residual; its gradients",
        "每一行 out = x / sqrt(Σ x² / n + eps) * weight，也可对 x + residual；及其梯度",
    ),
    cases=_NORM.cases,
    peers=_peers,
    check=_NORM.check,
    truth=_NORM.truth,
    dimensions=("rows", "n"),
    sized=_NORM.sized,
    sample=(64, 1024),
    more_samples=_NORM.more_samples,
    chooses=read_twice.chosen,
    rungs=(
        Rung(
            name="reference",
            language="pytorch",
            arch="any",
            idea=Text(
                "PyTorch in float64, rounded once: the truth that the others are checked against",
                "PyTorch 用 float64 计算，只舍入一次：其余梯级以它为准",
            ),
            file=host.FOLDER / "reference.py",
            function=reference.reference,
            readability=Score(5, "the formulas"),
            debugging=Score(5, "runs on the CPU, under any Python debugger"),
        ),
        _entry(
            name="two_pass",
            language="cuda",
            idea=Text(
                "a block per row: the mean square, then the row, each from memory",
                "每行一个线程块：先求均方，再写结果，每次都从内存读",
            ),
            file=host.TWO_PASS,
            function=host.two_pass,
            improves_on="reference",
            declines=cases.only("forward"),
            compile_for=cuda_compiles_for(host.TWO_PASS, f"rms_norm<{_BF16}>"),
            readability=Score(5, "two loops and a sum"),
            debugging=Score(5, "the sum can be printed by itself"),
        ),
        _entry(
            name="vectorized",
            language="cuda",
            idea=Text(
                "the row stays in registers: one read in 16-byte packs, one write",
                "整行留在寄存器里：以 16 字节为单位读一次、写一次",
            ),
            file=host.VECTORIZED,
            function=host.vectorized,
            choices={"lanes": rows.LANES},
            improves_on="two_pass",
            declines=cases.only("forward"),
            compile_for=cuda_compiles_for(
                host.VECTORIZED, f"rms_norm<{_BF16}, 8, 128, 4, 128, 1, kAfterSums, true, true>"
            ),
            readability=Score(4, "load, a sum, store; how a row is held is in a header"),
            debugging=Score(3, "long rows and odd lengths go ways of their own"),
        ),
        _entry(
            name="read_twice",
            language="cuda",
            idea=Text(
                "a long row is read twice, the second time from the L2 cache: registers hold nothing",
                "长行读两遍，第二遍来自 L2 缓存：寄存器里不保留数据",
            ),
            file=host.READ_TWICE,
            function=host.read_twice,
            improves_on="vectorized",
            declines=cases.only("forward"),
            compile_for=cuda_compiles_for(host.READ_TWICE, f"norm<false, {_BF16}, 8, 3, true, false, true>"),
            readability=Score(4, "layer norm's, with the mean left out; the hints to the caches are PTX"),
            debugging=Score(4, "any length goes one way; the sum can be checked by itself"),
        ),
        _entry(
            name="fused_residual",
            language="cuda",
            idea=Text(
                "x + residual is written and normalised in one pass: 4 n elements moved, not 5 n",
                "一遍写出 x + residual 并归一化：搬运 4 n 个元素而不是 5 n 个",
            ),
            file=host.FUSED_RESIDUAL,
            function=host.fused_residual,
            choices={"lanes": rows.LANES},
            improves_on="vectorized",
            declines=cases.only("add"),
            compile_for=cuda_compiles_for(
                host.FUSED_RESIDUAL, f"add_rms_norm<{_BF16}, 8, 128, 4, 128, 1, kAfterSums, true, true>"
            ),
            readability=Score(4, "vectorized with three lines more"),
            debugging=Score(3, "as vectorized"),
        ),
        _entry(
            name="backward",
            language="cuda",
            idea=Text(
                "a kernel along rows for dx, one down the columns for dweight",
                "dx 用一个逐行的核函数，dweight 用一个逐列的核函数",
            ),
            file=host.BACKWARD,
            function=host.backward,
            improves_on="reference",
            declines=cases.only("backward"),
            compile_for=cuda_compiles_for(host.BACKWARD, f"input_gradient<false, {_BF16}>"),
            readability=Score(4, "layer norm's, with the mean left out"),
            debugging=Score(5, "the gradients come from kernels of their own"),
        ),
        Rung(
            name="backward_fused",
            language="cuda",
            arch="sm_80",  # cp.async
            idea=Text(
                "both gradients from one read: column sums stay in registers, rows are fetched ahead",
                "两个梯度只读一遍：列的和留在寄存器里，后面的行提前取",
            ),
            file=host.BACKWARD_FUSED,
            function=host.backward_fused,
            improves_on="backward",
            declines=cases.only("backward"),
            compile_for=cuda_compiles_for(
                host.BACKWARD_FUSED, f"gradients<false, true, {_BF16}, 8, 512, 1, 1, 4, 1>"
            ),
            readability=Score(2, "a pipeline, a sum along the row and one down the columns in one loop"),
            debugging=Score(2, "what is fetched when is counted, not named"),
        ),
        _entry(
            name="triton",
            language="triton",
            idea=Text(
                "layer norm's kernel compiled without the mean", "layer norm 的核函数，编译时去掉平均值"
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            declines=cases.only("forward", "add"),
            compile_for=triton_compiles_for(
                lambda: host.triton_module().forward_kernel,
                {"x_ptr": "*bf16", "weight_ptr": "*bf16", "out_ptr": "*bf16", "n": "i32"}
                | {"count": "fp32", "eps": "fp32"},
                {"residual_ptr": None, "bias_ptr": None, "sum_ptr": None, "mean_ptr": None, "rstd_ptr": None}
                | {"CENTERED": False, "IS_WHOLE": True, "IS_FULL": True, "GROUPS": 256, "BLOCK": 4096},
            ),
            readability=Score(5, "the formulas on arrays"),
            debugging=Score(4, "prints and asserts work, and one program is one row"),
        ),
        _entry(
            name="triton_backward",
            language="triton",
            idea=Text(
                "layer norm's backward kernels compiled without the mean",
                "layer norm 的反向核函数，编译时去掉平均值",
            ),
            file=host.TRITON,
            function=host.triton_backward,
            improves_on="backward",
            declines=cases.only("backward"),
            compile_for=triton_compiles_for(
                lambda: host.triton_module().backward_kernel,
                {"dy_ptr": "*bf16", "x_ptr": "*bf16", "weight_ptr": "*bf16", "dx_ptr": "*bf16"}
                | {"rstd_ptr": "*fp32", "of_weight_ptr": "*fp32", "rows": "i32", "n": "i32"}
                | {"count": "fp32"},
                {"mean_ptr": None, "of_bias_ptr": None, "CENTERED": False, "BLOCK": 4096},
            ),
            readability=Score(4, "one loop over rows; the second kernel is bookkeeping"),
            debugging=Score(4, "prints and asserts work"),
        ),
    ),
)
