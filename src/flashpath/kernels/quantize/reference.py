"""Quantisation, the reference: PyTorch's own operations, and NumPy's packbits."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, cast

from flashpath.kernels.quantize.operations import LARGEST, Packing, checked


def reference(x: Any, operation: str, *operands: Any, out: Any | None = None) -> Any:
    """`reference(x, "packbits")`, `reference(x, "quantize_int8")`, `reference(codes, "dequantize", scale)`"""
    import torch  # here: listing the ladder shall not wait for it

    call = checked(x, operation, operands, out)
    if isinstance(call, Packing):
        order = "big" if call.is_big else "little"
        ends = [0, x.numel()] if call.indptr is None else cast(list[int], call.indptr.tolist())
        parts = [_numpy_packbits(x.flatten()[start:end], order) for start, end in itertools.pairwise(ends)]
        packed = torch.cat([*parts, torch.empty(0, dtype=torch.uint8)])
        call.out[: packed.numel()].copy_(packed)
    elif call.to_codes:
        codes, scale = TORCH[operation](x)
        call.codes.copy_(codes)
        call.scale.copy_(scale)
    else:
        call.floats.copy_(TORCH[operation](x, call.scale, call.floats.dtype))
    return call.result


def _numpy_packbits(x: Any, order: Any) -> Any:
    import numpy as np
    import torch

    return torch.as_tensor(np.packbits(x.cpu().numpy(), bitorder=order))


# ---- Each operation as a user of PyTorch writes it -----------------------------------------------------
# A function of its own for each: torch.compile keeps a few versions of one function only.


def _packbits(x: Any, order: str = "big") -> Any:
    import torch

    shifts = torch.arange(8, dtype=torch.uint8, device=x.device)
    bits = torch.nn.functional.pad((x.flatten() != 0).to(torch.uint8), (0, -x.numel() % 8)).view(-1, 8)
    return (bits << (7 - shifts if order == "big" else shifts)).sum(dim=1, dtype=torch.uint8)


def _segment_packbits(x: Any, indptr: Any, order: str = "big", size: int | None = None) -> Any:
    """Every segment's elements are moved to where their bytes begin; what lies between stays 0."""
    import torch

    lengths = indptr.diff()
    out_indptr = torch.zeros_like(indptr)
    out_indptr[1:] = ((lengths + 7) // 8).cumsum(0)
    moved = torch.repeat_interleave(8 * out_indptr[:-1] - indptr[:-1], lengths, output_size=x.numel())
    size = int(out_indptr[-1]) if size is None else size
    spread = torch.zeros(8 * size, dtype=torch.bool, device=x.device)
    spread[torch.arange(x.numel(), device=x.device) + moved] = x.flatten() != 0
    return _packbits(spread, order), out_indptr


def _scaled(x: Any, largest: float) -> tuple[Any, Any]:
    import torch

    tiny = torch.finfo(torch.float32).tiny
    if x.shape[-1] == 0:
        return x.float(), torch.full(x.shape[:-1], tiny, device=x.device)
    # On a GPU, PyTorch divides by a number as it multiplies by its reciprocal; by a tensor it divides.
    divisor = torch.full((), largest, device=x.device)
    scale = (x.abs().amax(dim=-1).float() / divisor).clamp(min=tiny)
    quotient = x.float() / scale[..., None]
    # A row with a NaN or an infinity: its scale says so, its codes are 0.
    return torch.where(scale[..., None].isfinite(), quotient, 0.0), scale


def _quantize_int8(x: Any) -> Any:
    import torch

    quotient, scale = _scaled(x, LARGEST["int8"])
    return quotient.round().to(torch.int8), scale


def _quantize_fp8(x: Any) -> Any:
    import torch

    quotient, scale = _scaled(x, LARGEST["float8_e4m3fn"])
    return quotient.to(torch.float8_e4m3fn), scale


def _dequantize(codes: Any, scale: Any, dtype: Any = None) -> Any:
    import torch

    return (codes.float() * scale[..., None]).to(torch.float32 if dtype is None else dtype)


TORCH: dict[str, Callable[..., Any]] = {
    "packbits": _packbits,
    "segment_packbits": _segment_packbits,
    "quantize_int8": _quantize_int8,
    "quantize_fp8": _quantize_fp8,
    "dequantize": _dequantize,
}
