"""The layer_norm ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from flashpath.kernels.building import cuda_compiles_for, cuda_rung, triton_compiles_for
from flashpath.kernels.common.norm import cases, read_twice, rows
from flashpath.kernels.common.norm.arguments import is_backward
from flashpath.kernels.declines import takes
from flashpath.kernels.layer_norm import host, reference
from flashpath.kernels.layer_norm.messages import MESSAGES
from flashpath.kernels.peers import library
from flashpath.kernels.rung import Ladder, Peer, Rung
from flashpath.messages import told

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


_LIGER_DECLINES = takes("operation", "forward", "backward", otherwise=told("kernels.layer_norm.no-residual"))


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {**_NORM.torch_peers(device, _torch_backward)}
    if device == "cuda" and (liger := library("liger_kernel.ops.layer_norm")):
        peers["Liger"] = Peer(functools.partial(_liger, liger), _LIGER_DECLINES)
    return peers


_BF16 = "__nv_bfloat16, __nv_bfloat16"

LADDER = Ladder(
    name="layer_norm",
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
            f"layer_norm<{_BF16}>",
            improves_on="reference",
            declines=cases.FORWARD_ONLY,
            readability=5,
            debugging=5,
        ),
        cuda_rung(
            host.welford,
            f"layer_norm<{_BF16}>",
            improves_on="two_pass",
            declines=cases.FORWARD_ONLY,
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.vectorized,
            f"layer_norm<{_BF16}, 8, 128, 4, 128, 1, kPackByPack, true, true, true>",
            choices={"lanes": rows.LANES},
            improves_on="welford",
            declines=cases.FORWARD_ONLY,
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.read_twice,
            f"norm<true, {_BF16}, 8, 3, true, true, true>",
            improves_on="vectorized",
            declines=cases.FORWARD_ONLY,
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.fused_residual,
            f"add_layer_norm<{_BF16}, 8, 128, 4, 128, 1, kPackByPack, true, true, true>",
            choices={"lanes": rows.LANES},
            improves_on="vectorized",
            declines=cases.ADD_ONLY,
            readability=4,
            debugging=3,
        ),
        cuda_rung(
            host.backward,
            f"input_gradient<true, {_BF16}>",
            improves_on="reference",
            declines=cases.BACKWARD_ONLY,
            readability=5,
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
                host.BACKWARD_FUSED, f"gradients<true, true, {_BF16}, 8, 512, 1, 1, 4, 1>"
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
                {"x_ptr": "*bf16", "weight_ptr": "*bf16", "bias_ptr": "*bf16", "out_ptr": "*bf16"}
                | {"n": "i32", "count": "fp32", "eps": "fp32"},
                {"residual_ptr": None, "sum_ptr": None, "mean_ptr": None, "rstd_ptr": None}
                | {
                    "CENTERED": True,
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
                | {"mean_ptr": "*fp32", "rstd_ptr": "*fp32", "of_weight_ptr": "*fp32", "of_bias_ptr": "*fp32"}
                | {"rows": "i32", "n": "i32", "count": "fp32"},
                {"added_ptr": None, "CENTERED": True, "OFFSET": 0.0, "BLOCK": 4096},
            ),
            readability=4,
            debugging=4,
        ),
    ),
)
