"""The cross entropy ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.cross_entropy import host
from flashpath.kernels.cross_entropy import reference as formulas
from flashpath.kernels.cross_entropy.messages import MESSAGES
from flashpath.kernels.cross_entropy.options import DEFAULT
from flashpath.kernels.declines import backward_only, forward_only, takes
from flashpath.kernels.peers import Kept, library, with_compiled
from flashpath.kernels.rung import Case, Ladder, Peer, Rung
from flashpath.kernels.tolerance import WrongResult, check_against
from flashpath.messages import told

# Elements that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_CHECKED_AT_ONCE = 2**25
# Logits that are read or written, and FLOPs for each.
_STREAMS = {"forward": (1, 6), "backward": (2, 5), "both": (2, 11)}
_both_only = takes("direction", "both", otherwise=told("kernels.cross_entropy.takes-both"))


def _case(direction: str, rows: int, n: int, dtype: str) -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        logits = 2 * torch.randn(rows, n, device=device, dtype=kind)
        target = torch.randint(n, (rows,), device=device)
        one = torch.ones((), device=device)
        if direction == "backward":
            return one, logits, target, torch.logsumexp(logits.float(), -1), DEFAULT
        return (logits, target, DEFAULT) if direction == "forward" else (logits, target, DEFAULT, one)

    streams, flops = _STREAMS[direction]
    return Case(
        name=f"{direction} {rows} × {n} {dtype}",
        inputs=inputs,
        bytes=streams * rows * n * kind.itemsize + 16 * rows,
        flops=flops * rows * n,
        dtype=dtype,
        parameters={"direction": direction, "rows": rows, "n": n, "dtype": dtype},
    )


def _sized(size: tuple[int, ...]) -> Case:
    rows, n = size
    return _case("forward", rows, n, "bfloat16")


def _more_samples() -> Sequence[Case]:
    return [_case(direction, 16, 4096, "bfloat16") for direction in ("backward", "both")]


def _cases() -> Sequence[Case]:
    large, odd = (8192, 128256), (8192, 50257)
    return [
        _case("forward", 16, 151936, "bfloat16"),  # fewer rows than SMs
        _case("forward", 8192, 32000, "float32"),
        *(_case(direction, *size, "bfloat16") for direction in _STREAMS for size in (odd, large)),
    ]


def _peers(device: str) -> Mapping[str, Callable[..., Any] | Peer]:
    peers: dict[str, Callable[..., Any] | Peer] = {
        **with_compiled(device, formulas.in_low_precision),
        "torch": formulas.torchs_own,
    }
    liger = library("liger_kernel.transformers.functional") if device == "cuda" else None
    if liger is not None:
        peers["Liger"] = Peer(functools.partial(_liger, liger, Kept(_copied)), _both_only)
    return peers


def _copied(logits: Any) -> Any:
    return logits.clone().requires_grad_()


def _liger(liger: Any, copied: Kept, logits: Any, target: Any, *_: Any) -> tuple[Any, Any]:
    """Liger writes the gradient over the logits, so it has some of its own; without options grad is 1."""
    leaf = copied(logits)
    losses = liger.liger_cross_entropy(leaf, target, reduction="none")
    return losses.detach().float(), leaf.detach()


def _truth(inputs: tuple[Any, ...]) -> Any:
    import torch

    return formulas.formula(*formulas.wide(inputs, torch.float64))


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error that the formula has in float32."""
    outputs = (output,) if formulas.is_backward(inputs) else tuple(output)
    expected = 1 if formulas.is_backward(inputs) else 2
    if len(outputs) != expected:
        raise WrongResult("kernels.wrong-count-of-gradients", count=len(outputs), expected=expected)
    logits = inputs[1 if formulas.is_backward(inputs) else 0]
    rows, n = logits.shape
    at_once = max(1, _CHECKED_AT_ONCE // max(1, n))
    if any(each.shape[:1] != logits.shape[:1] for each in outputs):
        _check_part(outputs, inputs)  # says what is wrong
    for start in range(0, rows, at_once):
        part = slice(start, start + at_once)
        few = tuple(each[part] if hasattr(each, "dim") and each.dim() else each for each in inputs)
        _check_part(tuple(each[part] for each in outputs), few)


def _check_part(outputs: tuple[Any, ...], inputs: tuple[Any, ...]) -> None:
    import torch

    exact, low = _truth(inputs), formulas.in_low_precision(*inputs)
    if formulas.is_backward(inputs):
        exact, low = (exact,), (low,)
    for got, right, near in zip(outputs, exact, low, strict=True):
        finite = torch.where(right.isfinite(), right.abs(), 0)
        # The small absolute term: float32 of the largest result, with which the exponentials are in step.
        largest = float(finite.max()) if finite.numel() else 0.0
        check_against(got, right, near, absolute=2**-20 * largest)


_forward = functools.partial(cuda_rung, declines=forward_only)
_backward = functools.partial(cuda_rung, declines=backward_only)

LADDER = Ladder(
    name="cross_entropy",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("rows", "n"),
    sized=_sized,
    sample=(16, 4096),
    more_samples=_more_samples,
    chooses=host.chosen,
    rungs=(
        Rung.reference(host.FOLDER, formulas.reference),
        _forward(
            host.two_pass,
            "cross_entropy<float, false, false>",
            improves_on="reference",
            readability=5,
            debugging=5,
        ),
        _forward(
            host.online,
            "cross_entropy<float, false, false>",
            improves_on="two_pass",
            readability=4,
            debugging=4,
        ),
        _forward(
            host.vectorized,
            "cross_entropy<__nv_bfloat16, 8, false, true, true>",
            improves_on="online",
            readability=3,
            debugging=3,
        ),
        _forward(
            host.split_rows,
            "part_statistics<__nv_bfloat16, 8, false, true, true>",
            improves_on="vectorized",
            readability=3,
            debugging=4,
        ),
        _backward(
            host.backward_simple,
            "backward<float, false>",
            improves_on="reference",
            readability=5,
            debugging=5,
        ),
        _backward(
            host.backward_vectorized,
            "backward<__nv_bfloat16, 8, false, true>",
            improves_on="backward_simple",
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.loss_and_gradient,
            "loss_and_gradient<__nv_bfloat16, 8, false, true, true>",
            declines=_both_only,
            improves_on="backward_vectorized",
            readability=3,
            debugging=3,
        ),
        Rung(
            name="triton",
            language="triton",
            declines=forward_only,
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            compile_for=triton_compiles_for(
                lambda: host.triton_module().forward_kernel,
                {"logits_ptr": "*bf16", "target_ptr": "*i64", "losses_ptr": "*fp32", "lse_ptr": "*fp32"}
                | {"n": "i32", "ignored": "i32", "smoothing": "fp32", "z_loss": "fp32", "cap": "fp32"},
                {"CAPPED": False, "SMOOTH": True, "HAS_Z": True, "EVERY": False, "BLOCK": 4096},
            ),
            readability=5,
            debugging=3,
        ),
        Rung(
            name="triton_backward",
            language="triton",
            declines=backward_only,
            file=host.TRITON,
            function=host.triton_backward,
            improves_on="backward_vectorized",
            compile_for=triton_compiles_for(
                lambda: host.triton_module().backward_kernel,
                {"grad_ptr": "*fp32", "logits_ptr": "*bf16", "target_ptr": "*i64", "lse_ptr": "*fp32"}
                | {"dx_ptr": "*bf16", "n": "i32", "ignored": "i32", "smoothing": "fp32", "z_loss": "fp32"}
                | {"cap": "fp32"},
                {"STRIDE": 1, "CAPPED": False, "HAS_Z": True, "BLOCK": 4096},
            ),
            readability=5,
            debugging=4,
        ),
    ),
)
