"""The operations of the quantize ladder: what each is called, takes and returns; calls are checked here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_like, require_tensor
from flashpath.kernels.building import dtype_name

# What each takes after its name, and how a call of it looks.
OPERATIONS = {
    "packbits": 'rung(x, "packbits"), rung(x, "packbits", "little")',
    "segment_packbits": 'rung(x, "segment_packbits", indptr), rung(x, "segment_packbits", indptr, "little")'
    " or, where the number of bytes is known, "
    'rung(x, "segment_packbits", indptr, "little", size)',
    "quantize_int8": 'rung(x, "quantize_int8")',
    "quantize_fp8": 'rung(x, "quantize_fp8")',
    "dequantize": 'rung(codes, "dequantize", scale), rung(codes, "dequantize", scale, torch.bfloat16)',
}
COUNTS = {"packbits": (0, 1), "segment_packbits": (1, 3), "dequantize": (1, 2)} | dict.fromkeys(
    ("quantize_int8", "quantize_fp8"), (0, 0)
)
PACKING = ("packbits", "segment_packbits")
CODE_TYPES = {"int8": "Int8", "float8_e4m3fn": "Fp8"}  # and how kernels spell them
LARGEST = {"int8": 127.0, "float8_e4m3fn": 448.0}
INDICES = {"int32": "int", "int64": "long long"}


@dataclass(frozen=True)
class Packing:
    """A checked call of packbits, or with indptr of segment_packbits."""

    x: Any  # as uint8
    is_big: bool
    out: Any  # bytes; of segments at least as many as they need
    indptr: Any | None = None
    out_indptr: Any | None = None

    @property
    def is_empty(self) -> bool:
        return not self.out.numel() or (self.indptr is not None and self.indptr.numel() == 1)

    @property
    def result(self) -> Any:
        return self.out if self.indptr is None else (self.out, self.out_indptr)


@dataclass(frozen=True)
class Rows:
    """A checked call of quantize or dequantize: floats, codes and scales of rows of n elements."""

    floats: Any
    codes: Any
    scale: Any
    rows: int
    n: int
    to_codes: bool

    @property
    def result(self) -> Any:
        return (self.codes, self.scale) if self.to_codes else self.floats


def checked(x: Any, operation: str, operands: Sequence[Any], out: Any | None) -> Packing | Rows:
    """The call, its outputs made where there are none; what does not fit is refused before anything runs."""
    if operation not in OPERATIONS:
        raise FlashpathError(
            "kernels.quantize-unknown", operation=f"{operation!r}", operations=list(OPERATIONS)
        )
    least, most = COUNTS[operation]
    if not least <= len(operands) <= most:
        raise FlashpathError(
            "kernels.quantize-operands",
            operation=operation,
            operands=len(operands),
            operations=OPERATIONS[operation],
        )
    if operation in PACKING:
        return _packing(x, operation, list(operands), out)
    if operation == "dequantize":
        return _dequantize(x, *operands, out=out)
    return _quantize(x, operation, out)


# ---- Bits ----------------------------------------------------------------------------------------------


def _packing(x: Any, operation: str, operands: list[Any], out: Any | None) -> Packing:
    """Checked but for what would have to wait for the GPU, which is the caller's promise: indptr rises from 0
    to the length of x, and a size or an out= has room for the bytes of all segments.
    """
    import torch

    require_tensor(operation, "x", x, ("bool", "uint8"))
    indptr = operands.pop(0) if operation == "segment_packbits" else None
    order = operands[0] if operands else "big"
    if order not in ("big", "little"):
        raise FlashpathError("kernels.quantize-order", operation=operation, order=f"{order!r}")
    out_indptr = None
    if indptr is None:
        packed = output(operation, out, (-(-x.numel() // 8),), torch.uint8, x.device)
    else:
        require_tensor(operation, "indptr", indptr, tuple(INDICES), 1)
        if indptr.device != x.device or not indptr.numel():
            raise FlashpathError(
                "kernels.quantize-indptr",
                operation=operation,
                count=indptr.numel(),
                device=str(indptr.device),
                device2=str(x.device),
            )
        out_indptr = torch.zeros_like(indptr)
        torch.cumsum(indptr.diff().add_(7).bitwise_right_shift_(3), 0, dtype=indptr.dtype, out=out_indptr[1:])
        if out is None:
            # How many bytes there are only the GPU knows: without a size this waits for it.
            size = operands[1] if len(operands) > 1 else int(out_indptr[-1])
            packed = torch.empty(size, dtype=torch.uint8, device=x.device)
        else:
            require_tensor(operation, "out=", out, ("uint8",), 1)
            require_like(operation, "out=", out, out.shape, torch.uint8, x.device)
            packed = out
    require_apart(operation, packed, x)
    return Packing(x.view(torch.uint8), order == "big", packed, indptr, out_indptr)


# ---- Rows ----------------------------------------------------------------------------------------------


def _shape(operation: str, x: Any) -> tuple[int, int]:
    if x.dim() == 0:
        raise FlashpathError("kernels.quantize-number", operation=operation)
    n = x.shape[-1]
    return (x.numel() // n if n else x.shape[:-1].numel()), n


def _quantize(x: Any, operation: str, out: Any | None) -> Rows:
    import torch

    require_tensor(operation, "x", x, FLOATS)
    rows, n = _shape(operation, x)
    if out is not None and not (isinstance(out, tuple) and len(out) == 2):  # type: ignore[arg-type]
        raise FlashpathError("kernels.quantize-out", operation=operation, out=f"{out!r:.80}")
    pair = (None, None) if out is None else cast(tuple[Any, Any], out)
    kind = torch.int8 if operation == "quantize_int8" else torch.float8_e4m3fn
    codes = output(operation, pair[0], x.shape, kind, x.device)
    scale = output(operation, pair[1], x.shape[:-1], torch.float32, x.device)
    require_apart(operation, codes, x, scale)
    require_apart(operation, scale, x)
    return Rows(x, codes, scale, rows, n, to_codes=True)


def _dequantize(codes: Any, scale: Any, dtype: Any = None, *, out: Any | None) -> Rows:
    import torch

    require_tensor("dequantize", "x", codes, tuple(CODE_TYPES))
    rows, n = _shape("dequantize", codes)
    require_like("dequantize", "scale", scale, codes.shape[:-1], torch.float32, codes.device)
    dtype = torch.float32 if dtype is None else dtype
    if str(dtype).removeprefix("torch.") not in FLOATS:
        raise FlashpathError("kernels.quantize-type", dtype=f"{dtype!r}", floats=list(FLOATS))
    floats = output("dequantize", out, codes.shape, dtype, codes.device)
    require_apart("dequantize", floats, codes, scale)
    return Rows(floats, codes, scale, rows, n, to_codes=False)


def code_name(codes: Any) -> str:
    """How kernels spell the type of codes."""
    return CODE_TYPES[dtype_name(codes)]
