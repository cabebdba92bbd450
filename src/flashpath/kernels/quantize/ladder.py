"""The quantize ladder: its rungs, the problems it is timed on, and its peers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from flashpath.kernels.building import cuda_rung, triton_compiles_for
from flashpath.kernels.declines import takes
from flashpath.kernels.peers import library, with_compiled
from flashpath.kernels.quantize import host
from flashpath.kernels.quantize.messages import MESSAGES
from flashpath.kernels.quantize.operations import LARGEST, PACKING
from flashpath.kernels.quantize.reference import TORCH, reference
from flashpath.kernels.rung import Case, Ladder, Rung
from flashpath.kernels.tolerance import WrongResult, check_shape, check_type
from flashpath.messages import told

# Elements that are checked at a time: the float64 truth of a whole large case would fill a GPU's memory.
_CHECKED_AT_ONCE = 2**26


def _bits(log2_n: int, order: str) -> Case:
    import torch

    n = 2**log2_n

    def inputs(device: str) -> tuple[Any, ...]:
        return torch.randint(2, (n,), device=device, dtype=torch.bool), "packbits", order

    return Case(
        name=f"packbits 2^{log2_n} {order}",
        inputs=inputs,
        bytes=n + n // 8,
        dtype="uint8",
        parameters={"operation": "packbits", "n": n, "order": order},
    )


def _segments(count: int, mean: int) -> Case:
    """Segments of all lengths from 1 to 2 × mean: masks of requests, say."""
    import torch

    lengths = torch.randint(1, 2 * mean, (count,), generator=torch.Generator().manual_seed(0))
    n, packed = int(lengths.sum()), int(((lengths + 7) // 8).sum())

    def inputs(device: str) -> tuple[Any, ...]:
        indptr = torch.zeros(count + 1, dtype=torch.int32)
        indptr[1:] = lengths.cumsum(0)
        x = torch.randint(2, (n,), device=device, dtype=torch.bool)
        return x, "segment_packbits", indptr.to(device), "big", packed

    return Case(
        name=f"segment_packbits {count} × {mean}",
        inputs=inputs,
        bytes=n + packed + 8 * (count + 1),
        dtype="uint8",
        parameters={"operation": "segment_packbits", "segments": count, "n": n},
    )


def _rows(operation: str, n: int, dtype: str = "bfloat16", code: str = "", rows: int = 32768) -> Case:
    import torch

    kind = getattr(torch, dtype)

    def inputs(device: str) -> tuple[Any, ...]:
        x = torch.randn(rows, n, device=device, dtype=kind)
        if not code:
            return x, operation
        codes, scale = TORCH[f"quantize_{code}"](x)
        return codes, operation, scale, kind

    return Case(
        name=f"{operation}{code and '_'}{code} {rows}×{n} {dtype}",
        inputs=inputs,
        bytes=rows * (n * (kind.itemsize + 1) + 4),
        flops=2 * rows * n,
        dtype=dtype,
        parameters={"operation": operation, "shape": [rows, n], "dtype": dtype, "code": code},
    )


def _cases() -> Sequence[Case]:
    return [
        _bits(20, "big"),
        _bits(28, "big"),
        _bits(28, "little"),
        _segments(64, 2**20),
        _segments(2**16, 2**10),
        *(
            _rows(operation, n)
            for operation in ("quantize_int8", "quantize_fp8")
            for n in (1024, 4096, 16384)
        ),
        _rows("quantize_fp8", 4096, "float32"),
        *(_rows("dequantize", 4096, code=code) for code in ("int8", "fp8")),
    ]


def _flashinfer(flashinfer: Any, x: Any, operation: str, *operands: Any) -> Any:
    taken = operands[:2]  # it finds the size by itself
    return getattr(flashinfer.quantization, operation)(x, *taken)


def _peers(device: str) -> Mapping[str, Callable[..., Any]]:
    # One function for each operation: a compiled one would be compiled again when the operation changes.
    each = {name: with_compiled(device, function) for name, function in TORCH.items()}

    def peer(source: str, x: Any, operation: str, *operands: Any) -> Any:
        return each[operation][source](x, *operands)

    peers: dict[str, Callable[..., Any]] = {
        source: functools.partial(peer, source) for source in each["packbits"]
    }
    if device == "cuda" and (flashinfer := library("flashinfer")):
        peers["FlashInfer"] = functools.partial(_flashinfer, flashinfer)
    return peers


def _truth(inputs: tuple[Any, ...]) -> Any:
    """Of quantize: x / scale, not rounded to a code, and the scale."""
    import torch

    x, operation, *operands = inputs
    if not operation.startswith("quantize"):
        return reference(x, operation, *operands)
    largest = LARGEST["int8" if operation == "quantize_int8" else "float8_e4m3fn"]
    scale = (x.double().abs().amax(dim=-1) / largest).clamp(min=torch.finfo(torch.float32).tiny)
    return x.double() / scale[..., None], scale


def _sized(size: tuple[int, ...]) -> Case:
    rows, n = size
    return _rows("quantize_int8", n, rows=rows)


def _more_samples() -> Sequence[Case]:
    return [_bits(16, "big")]


def _check(output: Any, inputs: tuple[Any, ...]) -> None:
    """Bits are equal. A row's scale is the float64 one to a unit, and each code is a nearest one."""
    import torch

    x, operation, *operands = inputs
    if operation in PACKING or operation == "dequantize":
        expected = TORCH[operation](x, *operands)
        torch.testing.assert_close(output, expected, rtol=0, atol=0, equal_nan=True)
        return
    codes, scale = output
    name = "int8" if operation == "quantize_int8" else "float8_e4m3fn"
    check_type(codes, getattr(torch, name))
    check_type(scale, torch.float32)
    check_shape(codes, x.shape)
    check_shape(scale, x.shape[:-1])
    n = x.shape[-1]
    if not x.numel():
        return
    rows = max(1, _CHECKED_AT_ONCE // n)
    parts = [each.reshape(-1, n).split(rows) for each in (x, codes)]
    for floats, bytes_, scales in zip(*parts, scale.flatten().split(rows), strict=True):
        _check_rows(floats, bytes_, scales, LARGEST[name])


def _check_rows(x: Any, codes: Any, scale: Any, largest: float) -> None:
    import torch

    exact = (x.double().abs().amax(dim=-1) / largest).clamp(min=torch.finfo(torch.float32).tiny)
    torch.testing.assert_close(scale.double(), exact, rtol=2**-22, atol=0, equal_nan=True)
    finite = scale.isfinite()
    if bool(codes.view(torch.uint8)[~finite].any()):
        raise WrongResult("kernels.quantize.codes-of-no-numbers")
    quotient = x[finite].double() / scale[finite].double()[:, None]
    found = codes[finite].double()
    # The distance between codes: 1, or for e4m3 2^-3 of the power of two below, and at least 2^-9.
    step = 1.0 if largest == LARGEST["int8"] else (quotient.abs().log2().floor() - 3).exp2().clamp(min=2**-9)
    error = (found - quotient).abs()
    if not bool((error <= step / 2 + quotient.abs() * 2**-21).all()):
        raise WrongResult("kernels.quantize.not-the-nearest")


LADDER = Ladder(
    name="quantize",
    texts=MESSAGES,
    cases=_cases,
    peers=_peers,
    check=_check,
    truth=_truth,
    dimensions=("rows", "n"),
    sized=_sized,
    sample=(32, 1024),
    more_samples=_more_samples,
    rungs=(
        Rung.reference(host.FOLDER, reference),
        cuda_rung(
            host.simple, "quantize<Fp8, __nv_bfloat16>", improves_on="reference", readability=5, debugging=5
        ),
        cuda_rung(
            host.ballot,
            "packbits<true>",
            declines=takes("operation", *PACKING, otherwise=told("kernels.quantize.packs-only")),
            improves_on="simple",
            readability=4,
            debugging=4,
        ),
        cuda_rung(
            host.vectorized,
            "quantize<Fp8, __nv_bfloat16, 8, 128>",
            improves_on="simple",
            choices={"lanes": host.LANES},
            readability=3,
            debugging=3,
        ),
        Rung(
            name="triton",
            language="triton",
            file=host.TRITON,
            function=host.triton,
            improves_on="vectorized",
            choices={"warps": (2, 4, 8, 16)},
            compile_for=triton_compiles_for(
                lambda: host.triton_kernel("quantize"),
                {"x_ptr": "*bf16", "codes_ptr": "*u8", "scale_ptr": "*fp32", "n": "i32"},
                {"IS_FP8": True, "HAS_FP8": False, "BLOCK": 4096, "FITS": True},
            ),
            readability=4,
            debugging=3,
        ),
    ),
)
