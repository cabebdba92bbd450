"""The rms_norm ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, cuda_rung, triton_compiles_for
from flashpath.kernels.common.norm import cases, read_twice, rows
from flashpath.kernels.common.norm.arguments import is_backward
from flashpath.kernels.peers import library
from flashpath.kernels.rms_norm import host, reference
from flashpath.kernels.rms_norm.messages import MESSAGES
from flashpath.kernels.rung import Ladder, Rung

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


_BF16 = "__nv_bfloat16, __nv_bfloat16"

LADDER = Ladder(
    name="rms_norm",
    texts=MESSAGES,
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
        Rung.reference(host.FOLDER, reference.reference),
        cuda_rung(
            host.two_pass,
            f"rms_norm<{_BF16}>",
            improves_on="reference",
            declines=cases.FORWARD_ONLY,
            readability=5,
            debugging=5,
        ),
        cuda_rung(
            host.vectorized,
            f"rms_norm<{_BF16}, 8, 128, 4, 128, 1, kAfterSums, true, true>",
            choices={"lanes": rows.LANES},
            improves_on="two_pass",
            declines=cases.FORWARD_ONLY,
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.read_twice,
            f"norm<false, {_BF16}, 8, 3, true, false, true>",
            improves_on="vectorized",
            declines=cases.FORWARD_ONLY,
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.fused_residual,
            f"add_rms_norm<{_BF16}, 8, 128, 4, 128, 1, kAfterSums, true, true>",
            choices={"lanes": rows.LANES},
            improves_on="vectorized",
            declines=cases.ADD_ONLY,
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.backward,
            f"input_gradient<false, {_BF16}>",
            improves_on="reference",
            declines=cases.BACKWARD_ONLY,
            readability=4,
            debugging=5,
        ),
        Rung(
            name="backward_fused",
            arch="sm_80",  # cp.async
            file=host.BACKWARD_FUSED,
            function=host.backward_fused,
            improves_on="backward",
            declines=cases.BACKWARD_ONLY,
            compile_for=cuda_compiles_for(
                host.BACKWARD_FUSED, f"gradients<false, true, {_BF16}, 8, 512, 1, 1, 4, 1>"
            ),
            readability=2,
            debugging=2,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            declines=cases.FORWARD_OR_ADD,
            compile_for=triton_compiles_for(
                lambda: host.triton_module().forward_kernel,
                {"x_ptr": "*bf16", "weight_ptr": "*bf16", "out_ptr": "*bf16", "n": "i32"}
                | {"count": "fp32", "eps": "fp32"},
                {"residual_ptr": None, "bias_ptr": None, "sum_ptr": None, "mean_ptr": None, "rstd_ptr": None}
                | {
                    "CENTERED": False,
                    "IS_WHOLE": True,
                    "IS_FULL": True,
                    "OFFSET": 0.0,
                    "GROUPS": 256,
                    "BLOCK": 4096,
                },
            ),
            readability=5,
            debugging=4,
        ),
        Rung(
            name="triton_backward",
            language="triton",
            file=host.TRITON,
            function=host.triton_backward,
            improves_on="backward",
            declines=cases.BACKWARD_ONLY,
            compile_for=triton_compiles_for(
                lambda: host.triton_module().backward_kernel,
                {"dy_ptr": "*bf16", "x_ptr": "*bf16", "weight_ptr": "*bf16", "dx_ptr": "*bf16"}
                | {"rstd_ptr": "*fp32", "of_weight_ptr": "*fp32", "rows": "i32", "n": "i32"}
                | {"count": "fp32"},
                {"mean_ptr": None, "of_bias_ptr": None, "added_ptr": None}
                | {"CENTERED": False, "OFFSET": 0.0, "BLOCK": 4096},
            ),
            readability=4,
            debugging=4,
        ),
    ),
)
