"""The layer_norm ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, triton_compiles_for
from flashpath.kernels.common.norm import cases, read_twice, rows
from flashpath.kernels.common.norm.arguments import is_backward
from flashpath.kernels.layer_norm import host, reference
from flashpath.kernels.peers import library
from flashpath.kernels.rung import Case, Ladder, Peer, Rung, Score
from flashpath.messages import Text

_NORM = cases.Norm(centered=True, eps=host.EPS, formulas=reference)


def _torch_backward(dy: Any, x: Any, weight: Any, mean: Any, rstd: Any) -> tuple[Any, Any, Any]:
    """PyTorch's own kernels, as autograd calls them."""
    import torch

    wanted, columns = [True, True, True], x.shape[1:]
    own: Any = torch.ops.aten.native_layer_norm_backward
    return own(dy, x, columns, mean[:, None], rstd[:, None], weight, weight, wanted)


def _liger(liger: Any, *inputs: Any) -> Any:
    if is_backward(inputs):
        dy, x, weight, mean, rstd = inputs
        return liger.layer_norm_backward(dy, x, weight, weight, mean, rstd)
    return liger.layer_norm_forward(*inputs)[0]


def _liger_declines(case: Case) -> str | None:
    return "has no residual" if case.parameters["operation"] == "add" else None


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {**_NORM.torch_peers(device, _torch_backward)}
    if device == "cuda" and (liger := library("liger_kernel.ops.layer_norm")):
        peers["Liger"] = Peer(functools.partial(_liger, liger), _liger_declines)
    return peers


_entry = functools.partial(Rung, arch="sm_75")
_BF16 = "__nv_bfloat16, __nv_bfloat16"

LADDER = Ladder(
    name="layer_norm",
    title=Text("Layer norm", "层归一化（layer norm）"),
    maths=Text(
        "out = (x - mean) / sqrt(var + eps) * weight + bias of each row, of x + residual; its gradients",
        "每一行 out = (x - mean) / sqrt(var + eps) * weight + bias，也可对 x + residual；及其梯度",
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
                "a block per row: the mean, then the variance, then the row, each from memory",
                "每行一个线程块：先求平均值，再求方差，再写结果，每次都从内存读",
            ),
            file=host.TWO_PASS,
            function=host.two_pass,
            improves_on="reference",
            declines=cases.only("forward"),
            compile_for=cuda_compiles_for(host.TWO_PASS, f"layer_norm<{_BF16}>"),
            readability=Score(5, "three loops, one for each formula"),
            debugging=Score(5, "each sum can be printed by itself"),
        ),
        _entry(
            name="welford",
            language="cuda",
            idea=Text(
                "mean and variance from one walk: triples (count, mean, M2) that threads merge",
                "一遍求出平均值和方差：各线程合并三元组 (count, mean, M2)",
            ),
            file=host.WELFORD,
            function=host.welford,
            improves_on="two_pass",
            declines=cases.only("forward"),
            compile_for=cuda_compiles_for(host.WELFORD, f"layer_norm<{_BF16}>"),
            readability=Score(4, "the merge has to be believed or derived"),
            debugging=Score(4, "a triple of any part of a row can be checked by itself"),
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
            improves_on="welford",
            declines=cases.only("forward"),
            compile_for=cuda_compiles_for(
                host.VECTORIZED, f"layer_norm<{_BF16}, 8, 128, 4, 128, 1, kPackByPack, true, true, true>"
            ),
            readability=Score(4, "load, two sums, store; how a row is held is in a header"),
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
            compile_for=cuda_compiles_for(host.READ_TWICE, f"norm<true, {_BF16}, 8, 3, true, true, true>"),
            readability=Score(4, "two loops, moments between them; the hints to the caches are PTX"),
            debugging=Score(4, "any length goes one way; moments can be checked by themselves"),
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
                host.FUSED_RESIDUAL,
                f"add_layer_norm<{_BF16}, 8, 128, 4, 128, 1, kPackByPack, true, true, true>",
            ),
            readability=Score(4, "vectorized with three lines more"),
            debugging=Score(3, "as vectorized"),
        ),
        _entry(
            name="backward",
            language="cuda",
            idea=Text(
                "a kernel along rows for dx, one down the columns for dweight and dbias",
                "dx 用一个逐行的核函数，dweight 和 dbias 用一个逐列的核函数",
            ),
            file=host.BACKWARD,
            function=host.backward,
            improves_on="reference",
            declines=cases.only("backward"),
            compile_for=cuda_compiles_for(host.BACKWARD, f"input_gradient<true, {_BF16}>"),
            readability=Score(5, "the formulas, one loop each"),
            debugging=Score(5, "the gradients come from kernels of their own"),
        ),
        Rung(
            name="backward_fused",
            language="cuda",
            arch="sm_80",  # cp.async
            idea=Text(
                "all gradients from one read: column sums stay in registers, rows are fetched ahead",
                "所有梯度只读一遍：列的和留在寄存器里，后面的行提前取",
            ),
            file=host.BACKWARD_FUSED,
            function=host.backward_fused,
            improves_on="backward",
            declines=cases.only("backward"),
            compile_for=cuda_compiles_for(
                host.BACKWARD_FUSED, f"gradients<true, true, {_BF16}, 8, 512, 1, 1, 4, 1>"
            ),
            readability=Score(2, "a pipeline, two sums along the row and two down the columns in one loop"),
            debugging=Score(2, "what is fetched when is counted, not named"),
        ),
        _entry(
            name="triton",
            language="triton",
            idea=Text(
                "a program per row, the row one array; with or without a residual",
                "每行一个程序，整行是一个数组；可带残差，也可不带",
            ),
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            declines=cases.only("forward", "add"),
            compile_for=triton_compiles_for(
                lambda: host.triton_module().forward_kernel,
                {"x_ptr": "*bf16", "weight_ptr": "*bf16", "bias_ptr": "*bf16", "out_ptr": "*bf16"}
                | {"n": "i32", "count": "fp32", "eps": "fp32"},
                {"residual_ptr": None, "sum_ptr": None, "mean_ptr": None, "rstd_ptr": None}
                | {"CENTERED": True, "IS_WHOLE": True, "IS_FULL": True, "GROUPS": 256, "BLOCK": 4096},
            ),
            readability=Score(5, "the formulas on arrays"),
            debugging=Score(4, "prints and asserts work, and one program is one row"),
        ),
        _entry(
            name="triton_backward",
            language="triton",
            idea=Text(
                "few programs for many rows, column sums on the way, a second kernel to add these up",
                "少量程序处理许多行，顺便求列的和，再用第二个核函数汇总",
            ),
            file=host.TRITON,
            function=host.triton_backward,
            improves_on="backward",
            declines=cases.only("backward"),
            compile_for=triton_compiles_for(
                lambda: host.triton_module().backward_kernel,
                {"dy_ptr": "*bf16", "x_ptr": "*bf16", "weight_ptr": "*bf16", "dx_ptr": "*bf16"}
                | {"mean_ptr": "*fp32", "rstd_ptr": "*fp32", "of_weight_ptr": "*fp32", "of_bias_ptr": "*fp32"}
                | {"rows": "i32", "n": "i32", "count": "fp32"},
                {"CENTERED": True, "BLOCK": 4096},
            ),
            readability=Score(4, "one loop over rows; the second kernel is bookkeeping"),
            debugging=Score(4, "prints and asserts work"),
        ),
    ),
)
