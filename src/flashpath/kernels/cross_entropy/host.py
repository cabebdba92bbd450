"""The host side of the cross entropy rungs: checks, outputs, and the shape of each launch.

Forward: `rung(logits, target, options)` of (rows, classes) and (rows) returns the losses and the lse of the
rows, both float32. Backward: `rung(grad, logits, target, lse, options)` returns the gradient of the logits,
in their type; `out=` may be the logits themselves. `loss_and_gradient(logits, target, options, grad)` returns
the losses and their gradient. grad is float32: one number for each row, or one without dimensions for all.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.kernels.arguments import FLOATS, output, require_apart, require_like, require_tensor
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device
from flashpath.kernels.common.softmax.packing import packing
from flashpath.kernels.cross_entropy.options import DEFAULT, Options, check_options
from flashpath.kernels.where import Where
from flashpath.messages import Message

FOLDER = Path(__file__).parent
TWO_PASS = FOLDER / "two_pass.cu"
ONLINE = FOLDER / "online.cu"
VECTORIZED = FOLDER / "vectorized.cu"
SPLIT_ROWS = FOLDER / "split_rows.cu"
BACKWARD_SIMPLE = FOLDER / "backward_simple.cu"
BACKWARD_VECTORIZED = FOLDER / "backward_vectorized.cu"
LOSS_AND_GRADIENT = FOLDER / "loss_and_gradient.cu"
BATCH = FOLDER / "batch.cu"
TRITON = FOLDER / "triton_cross_entropy.py"
NAME = "cross_entropy"
THREADS = 256  # of the simple rungs
PACKED_THREADS, BOTH_THREADS, BATCH_THREADS = 512, 1024, 1024
PACKS = 4  # of a thread at a time
ROWS_OF_COMBINING_BLOCK = 4
# Parts of split_rows: enough blocks to fill the GPU twice, each with a round of packs or more.
BLOCKS_PER_SM = 2
MOST_CLASSES = 2**30  # kernels count the elements of a row in int32, and go a round beyond them
TRITON_BLOCK = 4096
STATISTICS_BYTES = 12


# ---- Checks --------------------------------------------------------------------------------------------


def check(logits: Any, target: Any, options: Options) -> None:
    """A matrix of logits, a class for each of its rows, and options for which there is a loss."""
    import torch

    require_tensor(NAME, "logits", logits, FLOATS, dims=2)
    require_like(NAME, "target", target, logits.shape[:1], torch.int64, logits.device)
    check_options(NAME, options)
    if logits.shape[1] > MOST_CLASSES:
        raise FlashpathError("kernels.cross-entropy-long", n=logits.shape[1], most=MOST_CLASSES)


def check_backward(grad: Any, logits: Any, target: Any, lse: Any, options: Options) -> None:
    """As check, with the gradient of the losses and the lse of the forward pass."""
    import torch

    check(logits, target, options)
    check_grad(grad, logits)
    require_like(NAME, "lse", lse, logits.shape[:1], torch.float32, logits.device)


def check_grad(grad: Any, logits: Any) -> None:
    """One number for each row, or for all."""
    import torch

    is_one = isinstance(grad, torch.Tensor) and not grad.dim()
    require_like(NAME, "grad", grad, () if is_one else logits.shape[:1], torch.float32, logits.device)


def require_classes(target: Any, classes: int, ignore_index: int) -> None:
    """Refuses targets on the CPU that are no class. On a GPU they are not looked at: their loss is NaN."""
    if target.is_cuda or not target.numel():
        return
    wrong = (target != ignore_index) & ((target < 0) | (target >= classes))
    if bool(wrong.any()):
        at = int(wrong.nonzero()[0, 0])
        raise FlashpathError(
            "kernels.cross-entropy-class",
            at=at,
            target=int(target[at]),
            classes=classes,
            most=classes - 1,
            ignore_index=ignore_index,
        )


def _outputs(logits: Any, target: Any, options: Options, losses: Any, lse: Any) -> tuple[Any, Any]:
    import torch

    check(logits, target, options)
    require_classes(target, logits.shape[1], options.ignore_index)
    made: list[Any] = []
    for given in (losses, lse):
        made.append(output(NAME, given, logits.shape[:1], torch.float32, logits.device))
        if given is not None:
            require_apart(NAME, given, logits, target, *made[:-1])
    return made[0], made[1]


def _gradient(logits: Any, out: Any, *others: Any) -> Any:
    result = output(NAME, out, logits.shape, logits.dtype, logits.device)
    if out is not None:
        require_apart(NAME, result, logits, in_place=True)
        require_apart(NAME, result, *others)
    return result


def _stride(grad: Any) -> int:
    return 1 if grad.dim() else 0


# ---- A block per row -----------------------------------------------------------------------------------


def _block_per_row(
    file: Path, logits: Any, target: Any, options: Options, out: Any, lse: Any
) -> tuple[Any, Any]:
    losses, lse = _outputs(logits, target, options, out, lse)
    rows, n = logits.shape
    if rows:
        name = f"cross_entropy<{CPP_TYPES[dtype_name(logits)]}, {options.flags}>"
        cuda_kernel(file, name, logits)[rows, THREADS](n, logits, target, options.packed(), losses, lse)
    return losses, lse


def two_pass(
    logits: Any, target: Any, options: Options = DEFAULT, *, out: Any = None, lse: Any = None
) -> tuple[Any, Any]:
    return _block_per_row(TWO_PASS, logits, target, options, out, lse)


def online(
    logits: Any, target: Any, options: Options = DEFAULT, *, out: Any = None, lse: Any = None
) -> tuple[Any, Any]:
    return _block_per_row(ONLINE, logits, target, options, out, lse)


def vectorized(
    logits: Any, target: Any, options: Options = DEFAULT, *, out: Any = None, lse: Any = None
) -> tuple[Any, Any]:
    losses, lse = _outputs(logits, target, options, out, lse)
    rows, n = logits.shape
    if rows:
        shape = f"{packing(n, logits).arguments}, {options.flags}"
        kernel = cuda_kernel(VECTORIZED, f"cross_entropy<{CPP_TYPES[dtype_name(logits)]}, {shape}>", logits)
        kernel[rows, PACKED_THREADS](n, logits, target, options.packed(), losses, lse)
    return losses, lse


def split_rows(
    logits: Any, target: Any, options: Options = DEFAULT, *, out: Any = None, lse: Any = None
) -> tuple[Any, Any]:
    import torch

    losses, lse = _outputs(logits, target, options, out, lse)
    rows, n = logits.shape
    if rows:
        cut = packing(n, logits)
        each = PACKED_THREADS * PACKS
        most = max(1, sm_count(logits) * BLOCKS_PER_SM // rows)
        rounds = max(1, -(-cut.packs // (each * most)))
        parts = max(1, -(-cut.packs // (each * rounds)))
        kind, flags, terms = CPP_TYPES[dtype_name(logits)], options.flags, options.packed()
        of_parts = torch.empty(rows * parts * STATISTICS_BYTES, dtype=torch.uint8, device=logits.device)
        first = cuda_kernel(SPLIT_ROWS, f"part_statistics<{kind}, {cut.arguments}, {flags}>", logits)
        first[rows * parts, PACKED_THREADS](n, logits, target, terms, parts, each * rounds, of_parts)
        second = cuda_kernel(SPLIT_ROWS, f"combine_parts<{kind}, {flags}>", logits)
        second[-(-rows // ROWS_OF_COMBINING_BLOCK), 32 * ROWS_OF_COMBINING_BLOCK](
            rows, n, logits, target, terms, parts, of_parts, losses, lse
        )
    return losses, lse


# ---- Backward, and both at once ------------------------------------------------------------------------


def backward_simple(
    grad: Any, logits: Any, target: Any, lse: Any, options: Options = DEFAULT, *, out: Any = None
) -> Any:
    check_backward(grad, logits, target, lse, options)
    require_classes(target, logits.shape[1], options.ignore_index)
    dx = _gradient(logits, out, grad, target, lse)
    rows, n = logits.shape
    if rows and n:
        name = f"backward<{CPP_TYPES[dtype_name(logits)]}, {options.flags.partition(',')[0]}>"
        kernel = cuda_kernel(BACKWARD_SIMPLE, name, logits)
        kernel[rows, THREADS](n, grad, _stride(grad), logits, target, lse, options.packed(), dx)
    return dx


def backward_vectorized(
    grad: Any, logits: Any, target: Any, lse: Any, options: Options = DEFAULT, *, out: Any = None
) -> Any:
    check_backward(grad, logits, target, lse, options)
    require_classes(target, logits.shape[1], options.ignore_index)
    dx = _gradient(logits, out, grad, target, lse)
    rows, n = logits.shape
    if rows and n:
        cut = packing(n, logits, dx)
        parts = -(-cut.packs // (THREADS * PACKS))
        shape = f"{cut.arguments}, {options.flags.partition(',')[0]}"
        kernel = cuda_kernel(
            BACKWARD_VECTORIZED, f"backward<{CPP_TYPES[dtype_name(logits)]}, {shape}>", logits
        )
        given = n, grad, _stride(grad), logits, target, lse, options.packed(), parts, dx
        kernel[rows * parts, THREADS](*given)
    return dx


def loss_and_gradient(
    logits: Any,
    target: Any,
    options: Options,
    grad: Any,
    *,
    out: Any = None,
    lse: Any = None,
    gradient: Any = None,
) -> tuple[Any, Any]:
    """The losses, and their gradient times grad; `gradient=` may be the logits. `lse=` is written."""
    losses, lse = _outputs(logits, target, options, out, lse)
    check_grad(grad, logits)
    dx = _gradient(logits, gradient, grad, target, losses, lse)
    rows, n = logits.shape
    if rows:
        shape = f"{packing(n, logits, dx).arguments}, {options.flags}"
        name = f"loss_and_gradient<{CPP_TYPES[dtype_name(logits)]}, {shape}>"
        kernel = cuda_kernel(LOSS_AND_GRADIENT, name, logits)
        kernel[rows, BOTH_THREADS](n, grad, _stride(grad), logits, target, options.packed(), losses, lse, dx)
    return losses, dx


# ---- One loss of all rows ------------------------------------------------------------------------------


def batch_loss(losses: Any, target: Any, ignore_index: int, is_mean: bool) -> tuple[Any, Any]:
    """The sum of the losses, or the mean of those that are not ignored, and what each was multiplied by."""
    import torch

    loss, scale = (torch.empty((), dtype=torch.float32, device=losses.device) for _ in range(2))
    kernel = cuda_kernel(BATCH, "batch_loss", losses)
    kernel[1, BATCH_THREADS](losses.numel(), losses, target, ignore_index, int(is_mean), loss, scale)
    return loss, scale


# ---- Triton --------------------------------------------------------------------------------------------


def triton_module() -> Any:
    return importlib.import_module("flashpath.kernels.cross_entropy.triton_cross_entropy")


def _block(n: int) -> int:
    return min(TRITON_BLOCK, max(16, 1 << max(0, n - 1).bit_length()))


def triton(
    logits: Any, target: Any, options: Options = DEFAULT, *, out: Any = None, lse: Any = None
) -> tuple[Any, Any]:
    losses, lse = _outputs(logits, target, options, out, lse)
    rows, n = logits.shape
    if rows:
        index, smoothing, z_loss, cap, every = options
        with triton_device(logits):
            triton_module().forward_kernel[(rows,)](
                logits, target, losses, lse, n, index, smoothing, z_loss, cap, CAPPED=cap > 0,
                SMOOTH=smoothing > 0, HAS_Z=z_loss > 0, EVERY=every, BLOCK=_block(n), num_warps=8,
            )  # fmt: skip
    return losses, lse


def triton_backward(
    grad: Any, logits: Any, target: Any, lse: Any, options: Options = DEFAULT, *, out: Any = None
) -> Any:
    check_backward(grad, logits, target, lse, options)
    require_classes(target, logits.shape[1], options.ignore_index)
    dx = _gradient(logits, out, grad, target, lse)
    rows, n = logits.shape
    if rows and n:
        index, smoothing, z_loss, cap, _ = options
        block = _block(n)
        with triton_device(logits):
            triton_module().backward_kernel[(rows, -(-n // block))](
                grad, logits, target, lse, dx, n, index, smoothing, z_loss, cap, STRIDE=_stride(grad),
                CAPPED=cap > 0, HAS_Z=z_loss > 0, BLOCK=block, num_warps=8,
            )  # fmt: skip
    return dx


# ---- The choice ----------------------------------------------------------------------------------------

_BY_ROW = "vectorized", Message("kernels.cross-entropy-rows")
_SPLIT = "split_rows", Message("kernels.cross-entropy-split")
_BACKWARD = "backward_vectorized", Message("kernels.cross-entropy-gradient")
_BOTH = "loss_and_gradient", Message("kernels.cross-entropy-both")


def chosen(
    logits: Any, *_: Any, direction: str = "forward", where: Where | None = None
) -> tuple[str, Message]:
    """Returns the rung for these logits, and why. direction: forward, backward, or both at once."""
    if direction != "forward":
        return _BACKWARD if direction == "backward" else _BOTH
    return _BY_ROW if logits.shape[0] >= sm_count(logits, where) else _SPLIT
