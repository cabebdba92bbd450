"""The problems that attention is timed on, and how a result is judged: beside float64, by torch's own error.

Inputs of the forward direction are (q, k, v, options), of the backward (dout, q, k, v, out, lse, options).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from flashpath.kernels.attention import flops
from flashpath.kernels.attention.flash_v2.cuda import host as cuda
from flashpath.kernels.attention.flash_v2.triton import host as triton
from flashpath.kernels.attention.problem import Options, Problem, prepare
from flashpath.kernels.attention.reference import formula
from flashpath.kernels.peers import Kept
from flashpath.kernels.rung import Case
from flashpath.kernels.tolerance import check_against, check_finite, check_shape

if TYPE_CHECKING:
    from torch import Tensor
TOKENS = 16384  # of all sequences together, and elements of all heads: what published comparisons take
HIDDEN = 2048
DIRECTIONS = ("forward", "backward")
DIMS = (64, 128)
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
# Scores that a check has at a time, in float64.
_CHECKED_AT_ONCE = 2**28


# ---- Problems --------------------------------------------------------------------------------------------


def case(direction: str, batch: int, sequence: int, heads: int, dim: int, causal: bool) -> Case:
    import torch

    options = Options(causal=causal)
    shape = (batch, sequence, heads, dim)
    empty = torch.empty(shape, dtype=torch.bfloat16, device="meta")
    problem = Problem(empty, empty, empty, options)
    is_forward = direction == "forward"
    cost = (
        (flops.forward_flops, flops.forward_bytes)
        if is_forward
        else (flops.backward_flops, flops.backward_bytes)
    )

    def inputs(device: str) -> tuple[Any, ...]:
        q, k, v, dout = (torch.randn(shape, device=device, dtype=torch.bfloat16) for _ in range(4))
        if is_forward:
            return q, k, v, options
        host = triton if q.is_cuda else cuda
        return dout, q, k, v, *host.forward(prepare(q, k, v, options)), options

    return Case(
        name=f"{direction} {batch} × {sequence} × {heads} × {dim} {'causal' if causal else 'full'} bfloat16",
        inputs=inputs,
        flops=cost[0](problem),
        bytes=cost[1](problem),
        dtype="bfloat16",
        parameters={"direction": direction, "sequence": sequence, "dim": dim, "causal": causal},
    )


def cases(
    directions: Sequence[str] = DIRECTIONS,
    dims: Sequence[int] = DIMS,
    masks: Sequence[bool] = (True, False),
    lengths: Sequence[int] = LENGTHS,
    tokens: int = TOKENS,
    hidden: int = HIDDEN,
) -> list[Case]:
    """All of these, each with as many sequences and heads as make so many tokens of so many elements."""
    return [
        case(direction, max(1, tokens // sequence), sequence, max(1, hidden // dim), dim, causal)
        for direction in directions
        for dim in dims
        for causal in masks
        for sequence in lengths
    ]


# ---- Judging ---------------------------------------------------------------------------------------------


def gradients(
    dout: Tensor, q: Tensor, k: Tensor, v: Tensor, options: Options, dtype: Any
) -> tuple[Tensor, ...]:
    """dq, dk and dv of the formula in `dtype` (None: in that of q), by torch."""
    import torch

    inputs = [each.detach().to(dtype or each.dtype).requires_grad_() for each in (q, k, v)]
    with torch.enable_grad():
        out, _ = formula(inputs[0], inputs[1], inputs[2], options, dtype=inputs[0].dtype)
    return torch.autograd.grad(out, inputs, dout.to(out.dtype))


class _Known(NamedTuple):
    """What the results have to be, where it is known: of large problems in one head."""

    where: tuple[slice, ...]
    exact: tuple[Tensor, ...]  # float64
    low: tuple[Tensor, ...]  # by torch, in the type of the inputs


def _computed(*inputs: Any) -> _Known:
    import torch

    options: Options = inputs[-1]
    tensors: list[Tensor] = [each for each in inputs[:-1] if each.dim() == 4]
    batch, sequence, heads, _ = tensors[0].shape
    where = (slice(None),) * 3
    if batch * heads * sequence * sequence > _CHECKED_AT_ONCE:
        where = (slice(batch - 1, batch), slice(None), slice(heads // 2, heads // 2 + 1))
    parts = [each[where] for each in tensors]
    if len(inputs) == 4:
        q, k, v = parts
        exact, low = (formula(q, k, v, options, dtype=dtype)[0] for dtype in (None, q.dtype))
        return _Known(where, (exact,), (low,))
    dout, q, k, v = parts[:4]
    exact, low = (gradients(dout, q, k, v, options, kind) for kind in (torch.float64, None))
    return _Known(where, exact, low)


_known = Kept(_computed)  # the same for all that are compared on the same inputs


def check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Against float64: at most twice the error of torch in the same type. Of large problems one head."""
    outputs: list[Tensor] = list(output) if isinstance(output, tuple) else [output]  # pyright: ignore
    shape = inputs[0].shape
    for result in outputs:
        check_shape(result, shape)
        check_finite(result)
    known: _Known = _known(*inputs)
    is_forward = len(inputs) == 4
    for result, exact, low in zip(outputs, known.exact, known.low, strict=True):
        absolute = 1e-5 if is_forward else 1e-4 * max(1.0, float(exact.abs().max()))
        check_against(result[known.where], exact, low, absolute=absolute)


def truth(inputs: tuple[Any, ...]) -> Any:
    """Returns the result in float64; NaN, which is no truth, in heads of large problems that are left out."""
    import torch

    known: _Known = _known(*inputs)
    results: list[Tensor] = []
    for exact in known.exact:
        whole = torch.full(inputs[0].shape, torch.nan, dtype=exact.dtype, device=exact.device)
        whole[known.where] = exact
        results.append(whole)
    return results[0] if len(inputs) == 4 else tuple(results)
