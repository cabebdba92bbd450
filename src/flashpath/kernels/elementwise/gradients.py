"""The host side of the rungs that write two gradients at once: of gates, and of chains."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flashpath.kernels.arguments import widest_pack
from flashpath.kernels.building import CPP_TYPES, cuda_kernel, dtype_name, triton_device
from flashpath.kernels.elementwise import host
from flashpath.kernels.elementwise.host import Geometry, Launch
from flashpath.kernels.elementwise.operations import Gradient, GradientCall, checked_gradient

BACKWARD = host.FOLDER / "backward.cu"
BACKWARD_VECTORIZED = host.FOLDER / "backward_vectorized.cu"


def backward(
    dout: Any, operation: str, *operands: Any, out: Any | None = None, threads: int = host.THREADS
) -> Any:
    """dx of a gate; dx and dy of a chain, and of a gate of two tensors."""
    return _run(BACKWARD, checked_gradient(dout, operation, operands, out), Geometry(threads))


def backward_vectorized(
    dout: Any,
    operation: str,
    *operands: Any,
    out: Any | None = None,
    threads: int = host.THREADS,
    packs: int | None = None,
) -> Any:
    """Computes what `backward` does."""
    call = checked_gradient(dout, operation, operands, out)
    return _run(BACKWARD_VECTORIZED, call, Geometry(threads, packs=packs))


def triton_backward(
    dout: Any,
    operation: str,
    *operands: Any,
    out: Any | None = None,
    block_bytes: int = host.TRITON_BYTES,
    warps: int = host.TRITON_WARPS,
) -> Any:
    """Computes what `backward` does."""
    call = checked_gradient(dout, operation, operands, out)
    n, block = dout.numel(), block_bytes // dout.element_size()
    if not n:
        return call.returned
    with triton_device(dout):
        if call.gradient.gated:
            d = dout.shape[-1]
            block = min(block, 1 << (d - 1).bit_length())
            host.triton_module().gate_backward_kernel[(n // d * -(-d // block),)](
                dout, call.x, *call.results, d, call.gradient.activation, block, num_warps=warps
            )
        else:
            host.triton_module().pair_backward_kernel[(-(-n // block),)](
                *(dout, call.x, call.y, *call.results, call.factor, n),
                *(not call.gradient.is_chain, call.gradient.activation, block),
                num_warps=warps,
            )
    return call.returned


def launches(file: Path, call: GradientCall, geometry: Geometry = host.USUAL) -> Iterator[Launch]:
    """What the rung of that file launches for a call: one launch, or none for nothing."""
    n, gated, threads = call.dout.numel(), call.gradient.gated, geometry.threads
    if not n:
        return
    d = call.dout.shape[-1] if gated else 1
    sizes: tuple[int, ...] = ()
    steps: tuple[int, ...] = ()
    if file == BACKWARD:
        blocks = -(-n // threads)
    else:
        tensors = [each for each in (call.dout, call.x, call.y, *call.results) if each is not None]
        width = widest_pack(*tensors, multiple=d if gated else None)
        each, blocks = host.packs_and_blocks(call.dout, n // width, 3, geometry)
        sizes, row = (width, each), d // width
        steps = (*divmod(threads, row), host.reciprocal(row)) if gated else ()
    name = kernel_name(call.gradient, dtype_name(call.dout), *sizes)
    kernel = cuda_kernel(file, name, call.dout)
    given = (d, call.dout, call.x) if gated else (call.factor, call.dout, call.x, call.y)
    yield Launch(kernel, blocks, threads, (n, *given, *call.results, *steps))


def _run(file: Path, call: GradientCall, geometry: Geometry) -> Any:
    for each in launches(file, call, geometry):
        each.kernel[each.blocks, each.threads](*each.args)
    return call.returned


def kernel_name(gradient: Gradient, dtype: str, *sizes: int) -> str:
    """The instance of a file's kernel for a gradient, as C++ names it."""
    of_two = f"{'Chain' if gradient.is_chain else 'Gate'}Gradients<{gradient.activation}>"
    functor = gradient.activation if gradient.gated else of_two
    arguments = ", ".join([CPP_TYPES[dtype], *map(str, sizes), functor])
    return f"{'gate' if gradient.gated else 'pair'}_backward<{arguments}>"
