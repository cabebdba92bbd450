"""The host side of the elementwise rungs: the shape of each launch."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.jit import Kernel
from flashpath.kernels.arguments import widest_pack
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, sm_count, triton_device
from flashpath.kernels.elementwise.operations import SINGLE, Call, Operation, checked

FOLDER = Path(__file__).parent
SCALAR = FOLDER / "scalar.cu"
GRID_STRIDE = FOLDER / "grid_stride.cu"
VECTORIZED = FOLDER / "vectorized.cu"
FUSED_CHAIN = FOLDER / "fused_chain.cu"
THREADS = 256
# Enough blocks per SM for 2048 resident threads, the most any GPU holds.
BLOCKS_PER_SM = 8
# 16-byte loads of every input that a thread asks for before it uses the first, by the number of inputs; more
# than one where each SM still gets so many blocks: then the last ones to end, while other SMs are idle
# already, are a small part of the whole.
PACKS = {1: 1, 2: 2, 3: 1}
BLOCKS_TO_SHARE = 32
# Of a Triton program with its four warps: two 16-byte accesses a thread.
TRITON_BYTES, TRITON_WARPS = 4096, 4


@dataclass(frozen=True)
class Geometry:
    """What a launch is free to choose, where its rung has it; packs None: as many as PACKS says."""

    threads: int = THREADS
    blocks_per_sm: int = BLOCKS_PER_SM
    packs: int | None = None


USUAL = Geometry()


def scalar(x: Any, operation: str, *operands: Any, out: Any | None = None, threads: int = THREADS) -> Any:
    return _run(SCALAR, checked(x, operation, operands, out), Geometry(threads))


def grid_stride(
    x: Any,
    operation: str,
    *operands: Any,
    out: Any | None = None,
    threads: int = THREADS,
    blocks_per_sm: int = BLOCKS_PER_SM,
) -> Any:
    return _run(GRID_STRIDE, checked(x, operation, operands, out), Geometry(threads, blocks_per_sm))


def vectorized(
    x: Any,
    operation: str,
    *operands: Any,
    out: Any | None = None,
    threads: int = THREADS,
    packs: int | None = None,
) -> Any:
    return _run(VECTORIZED, checked(x, operation, operands, out), Geometry(threads, packs=packs))


def fused_chain(
    x: Any,
    operation: str,
    *operands: Any,
    out: Any | None = None,
    threads: int = THREADS,
    packs: int | None = None,
) -> Any:
    return _run(FUSED_CHAIN, checked(x, operation, operands, out), Geometry(threads, packs=packs))


def triton(
    x: Any,
    operation: str,
    *operands: Any,
    out: Any | None = None,
    block_bytes: int = TRITON_BYTES,
    warps: int = TRITON_WARPS,
) -> Any:
    call = checked(x, operation, operands, out)
    result, n = call.out, call.out.numel()
    block = block_bytes // x.element_size()
    if not n:
        return result
    with triton_device(x):
        if call.operation.gated:
            d = result.shape[-1]
            block = min(block, 1 << (d - 1).bit_length())
            grid = (n // d * -(-d // block),)
            activation = triton_steps(call.operation)["STEP0"]
            triton_gate()[grid](x, result, d, ACTIVATION=activation, BLOCK=block, num_warps=warps)
        else:
            constants = {**triton_steps(call.operation), "READS_Y": call.operation.reads_y, "BLOCK": block}
            grid = (-(-n // block),)
            triton_map()[grid](x, call.y, result, *call.scalars, n, **constants, num_warps=warps)
    return result


def triton_map() -> Any:
    return triton_module().map_kernel


def triton_gate() -> Any:
    return triton_module().gate_kernel


def triton_module() -> Any:
    return importlib.import_module("flashpath.kernels.elementwise.triton_elementwise")


def triton_steps(operation: Operation) -> dict[str, str]:
    """The functors of an operation, up to three, as a kernel's constants; gating is the gate kernel's own."""
    steps = operation.functors
    if operation.gated:
        steps = [each.removeprefix("Gated<").removesuffix(">") for each in steps]
    return dict(zip(("STEP0", "STEP1", "STEP2"), [*steps, "", ""], strict=False))


# ---- Launches of the CUDA rungs ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """One kernel with its grid and arguments."""

    kernel: Kernel
    blocks: int
    threads: int
    args: tuple[Any, ...]


def launches(file: Path, call: Call, geometry: Geometry = USUAL) -> Iterator[Launch]:
    """What the rung of that file launches for a call; each is to run before the next is asked for."""
    for each in [call] if file == FUSED_CHAIN else passes(call):
        if each.out.numel():
            yield _launch(file, each, geometry)


def passes(call: Call) -> Iterator[Call]:
    """A chain as one call after the other, with tensors between them: what fused_chain does without."""
    functors, x = call.operation.functors, call.x
    if len(functors) == 1:
        yield call
        return
    for functor in functors:
        step = SINGLE[functor]
        out = call.out if functor == functors[-1] else x.new_empty(x.shape)
        yield Call(step, x, call.y if step.reads_y else x, out, call.scalars)
        x = out


def _run(file: Path, call: Call, geometry: Geometry) -> Any:
    for each in launches(file, call, geometry):
        each.kernel[each.blocks, each.threads](*each.args)
    return call.out


def _launch(file: Path, call: Call, geometry: Geometry) -> Launch:
    n, d, threads = call.out.numel(), call.out.shape[-1] if call.out.dim() else 1, geometry.threads
    sizes: tuple[int, ...] = ()  # further template arguments
    row = d  # what a thread steps over is counted in elements, or in packs
    if file == SCALAR:
        blocks, stride = -(-n // threads), 0  # no thread takes a second step
    elif file == GRID_STRIDE:
        blocks = min(-(-n // threads), sm_count(call.x) * geometry.blocks_per_sm)
        stride = blocks * threads
    else:
        width = widest_pack(call.x, call.y, call.out, multiple=d if call.operation.gated else None)
        each, blocks = packs_and_blocks(call.x, n // width, call.operation.streams - 1, geometry)
        stride, row, sizes = threads, d // width, (width, each)
    kernel = cuda_kernel(file, kernel_name(file, call.operation, dtype_name(call.x), *sizes), call.x)
    if not call.operation.gated:
        return Launch(kernel, blocks, threads, (n, call.x, call.y, call.out, *call.scalars))
    steps = () if file == SCALAR else divmod(stride, row)
    multiplier = (reciprocal(row),) if sizes else ()
    return Launch(kernel, blocks, threads, (n, d, call.x, call.out, *steps, *multiplier))


def packs_and_blocks(x: Any, packs: int, inputs: int, geometry: Geometry) -> tuple[int, int]:
    """How many packs of each input a thread takes, and how many blocks that makes of all packs."""
    each = geometry.packs or PACKS[inputs]
    packs = max(packs, 1)
    if geometry.packs is None and packs < each * geometry.threads * BLOCKS_TO_SHARE * sm_count(x):
        each = 1
    return each, -(-packs // (geometry.threads * each))


def reciprocal(row: int) -> int:
    """2^64 / row for packed_rows.cuh: the upper half of its product with i is i // row, or 1 less."""
    return (2**64 - 1) // row


def kernel_name(file: Path, operation: Operation, dtype: str, *sizes: int) -> str:
    """The instance of a file's kernel for an operation, as C++ names it."""
    functor = operation.functors[0]
    if file == FUSED_CHAIN and not operation.gated:
        functor = f"Chain<{', '.join(operation.functors)}>"
    arguments = ", ".join([CPP_TYPES[dtype], *map(str, sizes), functor])
    return f"{'gate' if operation.gated else 'map'}<{arguments}>"
