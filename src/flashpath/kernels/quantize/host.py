"""The host side of the quantize rungs: the shape of each launch."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import widest_pack
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device
from flashpath.kernels.quantize.operations import INDICES, Packing, Rows, checked, code_name

FOLDER = Path(__file__).parent
SIMPLE = FOLDER / "simple.cu"
BALLOT = FOLDER / "ballot.cu"
VECTORIZED = FOLDER / "vectorized.cu"
TRITON = FOLDER / "triton_quantize.py"

THREADS = 256
CHUNK = 1024  # elements of a warp of ballot
# Of vectorized: a block's bytes of segments, or groups of 16 elements; packs of a row that a thread holds.
SEGMENT_TILE, GROUP_TILE = THREADS * 8, THREADS * 4
PACKS = 4
LANES = (8, 32, 64, 128, 256, 512)  # threads of a row
ROW_THREADS = 128  # of a block whose rows are for a warp or less
# Of quantize, for rows with as many packs as so many threads take at a time, or more: threads of a block,
# packs of a thread at a time, blocks that an SM shall have room for (or 0), and how often a row is read.
TUNED = {512: (512, PACKS, 3, 2)}
TRITON_BYTES = 512  # output bytes of a program of packbits
TRITON_ROW = 16384  # the longest row that a program holds


def simple(x: Any, operation: str, *operands: Any, out: Any | None = None) -> Any:
    call = checked(x, operation, operands, out)
    if isinstance(call, Packing):
        _pack_simply(call)
    elif call.rows:
        kind = CPP_TYPES[dtype_name(call.floats)]
        name = f"{'quantize' if call.to_codes else 'dequantize'}<{code_name(call.codes)}, {kind}>"
        kernel = cuda_kernel(SIMPLE, name, x)
        kernel[call.rows, THREADS](call.n, *_tensors(call))
    return call.result


def ballot(x: Any, operation: str, *operands: Any, out: Any | None = None) -> Any:
    call = checked(x, operation, operands, out)
    if not isinstance(call, Packing):
        raise FlashpathError("kernels.quantize-ballot")
    if call.is_empty:
        return call.result
    if call.indptr is None:
        n = x.numel()
        kernel = cuda_kernel(BALLOT, f"packbits<{_big(call)}>", x)
        kernel[-(-n // (CHUNK * THREADS // 32)), THREADS](n, call.x, call.out)
    else:
        kernel = cuda_kernel(BALLOT, f"segment_packbits<{_big(call)}, {_index(call)}>", x)
        kernel[call.indptr.numel() - 1, THREADS](call.x, call.indptr, call.out_indptr, call.out)
    return call.result


def vectorized(
    x: Any, operation: str, *operands: Any, out: Any | None = None, lanes: int | None = None
) -> Any:
    call = checked(x, operation, operands, out)
    if isinstance(call, Packing):
        _pack_words(call)
    elif call.rows:
        name, lanes, block = _row_instance(call, lanes)
        kernel = cuda_kernel(VECTORIZED, name, x)
        kernel[-(-call.rows * lanes // block), block](call.rows, call.n, *_tensors(call))
    return call.result


# ---- Bits ----------------------------------------------------------------------------------------------


def _big(call: Packing) -> str:
    return "true" if call.is_big else "false"


def _index(call: Packing) -> str:
    return INDICES[dtype_name(call.indptr)]


def _pack_simply(call: Packing) -> None:
    if call.is_empty:
        return
    size = call.out.numel()
    if call.indptr is None:
        kernel = cuda_kernel(SIMPLE, f"packbits<{_big(call)}>", call.x)
        kernel[-(-size // THREADS), THREADS](call.x.numel(), call.x, call.out)
    else:
        kernel = cuda_kernel(SIMPLE, f"segment_packbits<{_big(call)}, {_index(call)}>", call.x)
        segments = call.indptr.numel() - 1
        kernel[-(-size // THREADS), THREADS](segments, call.x, call.indptr, call.out_indptr, call.out)


def _pack_words(call: Packing) -> None:
    if call.is_empty:
        return
    size, n = call.out.numel(), call.x.numel()
    if call.indptr is None:
        width = widest_pack(call.x)
        kernel = cuda_kernel(VECTORIZED, f"packbits<{_big(call)}, {width}>", call.x)
        kernel[-(-size // (2 * GROUP_TILE)), THREADS](n, call.x, call.out)
    else:
        kernel = cuda_kernel(VECTORIZED, f"segment_packbits<{_big(call)}, {_index(call)}>", call.x)
        segments = call.indptr.numel() - 1
        grid = -(-size // SEGMENT_TILE)
        kernel[grid, THREADS](segments, n, call.x, call.indptr, call.out_indptr, call.out)


# ---- Rows ----------------------------------------------------------------------------------------------


def _tensors(call: Rows) -> tuple[Any, Any, Any]:
    import torch

    codes = call.codes.view(torch.uint8)
    return (call.floats, codes, call.scale) if call.to_codes else (codes, call.scale, call.floats)


def _row_instance(call: Rows, lanes: int | None) -> tuple[str, int, int]:
    """The kernel of vectorized for a call, how many threads take a row, and the block."""
    whole = 16 // call.floats.element_size()
    is_aligned = widest_pack(call.floats, multiple=call.n) == whole and call.codes.data_ptr() % whole == 0
    width = whole if is_aligned else 1
    packs = call.n // width
    lanes = lanes or next((lanes for lanes in LANES if packs <= lanes * PACKS), LANES[-1])
    operation = "quantize" if call.to_codes else "dequantize"
    name = f"{operation}<{code_name(call.codes)}, {CPP_TYPES[dtype_name(call.floats)]}, {width}, {lanes}"
    if not call.to_codes or width == 1 or lanes not in TUNED or packs < lanes * TUNED[lanes][1]:
        return f"{name}>", lanes, lanes if lanes > 32 else ROW_THREADS
    block, held, blocks, reads = TUNED[lanes]
    is_whole = "true" if packs == lanes * held else "false"
    return f"{name}, {block}, {held}, {blocks}, {reads}, {is_whole}>", lanes, block


# ---- Triton --------------------------------------------------------------------------------------------


def triton_kernel(name: str) -> Any:
    return getattr(importlib.import_module("flashpath.kernels.quantize.triton_quantize"), f"{name}_kernel")


def triton(x: Any, operation: str, *operands: Any, out: Any | None = None, warps: int | None = None) -> Any:
    call = checked(x, operation, operands, out)
    with triton_device(x):
        if isinstance(call, Packing):
            _triton_pack(call)
        elif call.rows and call.n:
            _triton_rows(call, warps)
        elif call.to_codes:
            call.scale.fill_(_smallest_scale())
    return call.result


def _smallest_scale() -> float:
    import torch

    return torch.finfo(torch.float32).tiny


def has_fp8(tensor: Any) -> bool:
    """Whether Triton rounds float32 to fp8 by one instruction on the GPU of a tensor.

    For sm_89, which has it too, Triton goes through float16 and rounds twice. The virtual GPU plays sm_80.
    """
    import torch

    return tensor.is_cuda and torch.cuda.get_device_capability(tensor.device) >= (9, 0)


def _triton_pack(call: Packing) -> None:
    if call.is_empty:
        return
    size = call.out.numel()
    grid = (-(-size // TRITON_BYTES),)
    x, constants = call.x, {"IS_BIG": call.is_big, "BLOCK": TRITON_BYTES}
    if call.indptr is None:
        triton_kernel("packbits")[grid](x, call.out, x.numel(), **constants)
    else:
        segments = call.indptr.numel() - 1
        steps = (segments - 1).bit_length()
        triton_kernel("segment_packbits")[grid](
            x, call.indptr, call.out_indptr, call.out, segments, steps, **constants
        )


def _triton_rows(call: Rows, warps: int | None) -> None:
    block = min(TRITON_ROW, 1 << (call.n - 1).bit_length())
    is_fp8 = code_name(call.codes) == "Fp8"
    if call.to_codes:
        constants = {
            "IS_FP8": is_fp8,
            "HAS_FP8": has_fp8(call.codes),
            "BLOCK": block,
            "FITS": call.n <= block,
        }
        warps = warps or min(16, max(1, block // 1024))
        triton_kernel("quantize")[(call.rows,)](*_tensors(call), call.n, **constants, num_warps=warps)
    else:
        block = min(block, 2048)
        grid = (call.rows * -(-call.n // block),)
        constants = {"IS_FP8": is_fp8, "BLOCK": block}
        triton_kernel("dequantize")[grid](*_tensors(call), call.n, **constants, num_warps=warps or 4)
