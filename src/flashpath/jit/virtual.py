"""Launches on the virtual GPU: arrays of the host, found and described; shapes, checked against a profile."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flashpath import gpus
from flashpath.jit import shape as shapes
from flashpath.jit.arguments import HOST, ArgumentError, Strided, view_of
from flashpath.vgpu.device import HostArray, place
from flashpath.vgpu.findings import merged
from flashpath.vgpu.host_arrays import describe
from flashpath.vgpu.options import WARP_INSTRUCTION_BUDGET, Options
from flashpath.vgpu.profiles import check_cooperative, max_threads, profile_for, resident_blocks
from flashpath.vgpu.report import FIRST_ACCESSES, Footprint, PlacedArray, Report, Trace, make_report
from flashpath.vgpu.whole import truth

if TYPE_CHECKING:
    from flashpath.jit.module import Kernel
    from flashpath.vgpu._engine import LaunchResult


MOST_REGISTERS = 255  # that a thread can have

# ---- The profile ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class VirtualLimits:
    """What a profile allows a launch; grids and the axes of blocks are limited alike on all GPUs."""

    gpu: gpus.Gpu
    max_grid: shapes.Dim3 = (2**31 - 1, 65535, 65535)
    max_block: shapes.Dim3 = (1024, 1024, 64)

    @property
    def name(self) -> str:
        return self.gpu.name

    @property
    def max_threads_per_block(self) -> int:
        return self.gpu.architecture.max_threads_per_block

    @property
    def max_shared_per_block(self) -> int:
        return self.gpu.architecture.max_shared_per_block_bytes


# ---- Arrays --------------------------------------------------------------------------------------------


def host_arrays(kernel: Kernel, args: Sequence[Any]) -> list[HostArray]:
    """The arrays among a launch's arguments. Null pointers and bare addresses stay what they are."""
    found: list[HostArray] = []
    for parameter, argument in zip(kernel.signature.parameters, args, strict=True):
        if parameter.kind != "pointer" or argument is None:
            continue
        array = argument.tensor if isinstance(argument, Strided) else argument
        if view_of(array) is not None:
            described = describe(parameter.offset, array)
            if described.address:
                found.append(described)
    return found


# ---- Launches ------------------------------------------------------------------------------------------


def run(
    kernel: Kernel,
    shape: shapes.Shape,
    args: Sequence[Any],
    gpu: gpus.Gpu,
    options: Options,
    *,
    arrays: Sequence[HostArray] | None = None,
) -> LaunchResult:
    """Check the shape and run the kernel; the arguments have been checked.

    `arrays` are those of the arguments, where the caller knows more of them than they themselves tell.
    """
    if shape.cluster is not None:
        raise shapes.LaunchError("The virtual GPU does not run clusters.", "Run it on a GPU.")
    registers, static_shared = _used(kernel, shape, gpu)
    most = min(kernel.max_threads or 1024, max_threads(gpu, registers))
    shapes.check_shape(shape, VirtualLimits(gpu), kernel.name, most, static_shared)
    resident = resident_blocks(gpu, math.prod(shape.block), registers, static_shared + shape.shared)
    if shape.cooperative:
        check_cooperative(kernel.name, gpu, math.prod(shape.grid), resident, shapes.LaunchError)
    virtual = kernel.virtual
    parameters = kernel.packer.packed()
    return virtual.launch(
        shape.grid,
        shape.block,
        shape.shared,
        parameters,
        host_arrays(kernel, args) if arrays is None else arrays,
        options,
        gpu=gpu,
        resident_blocks=resident,
        cooperative=shape.cooperative,
    )


def _used(kernel: Kernel, shape: shapes.Shape, gpu: gpus.Gpu) -> tuple[int, int]:
    """Registers of a thread and static shared memory: as ptxas says, or the most that there can be.

    ptxas takes as long as the compiler before it. Where all blocks fit at once even with the most registers,
    what it would say changes nothing, and it is not waited for.
    """
    if not kernel.module.is_assembled:
        static_shared = kernel.virtual.program.shared_bytes
        threads, shared = math.prod(shape.block), static_shared + shape.shared
        fits = (
            threads <= max_threads(gpu, MOST_REGISTERS) and shared <= VirtualLimits(gpu).max_shared_per_block
        )
        if fits and math.prod(shape.grid) <= resident_blocks(gpu, threads, MOST_REGISTERS, shared):
            return MOST_REGISTERS, static_shared
    used = kernel.resources
    return used.registers, used.static_shared


def _placed(kernel: Kernel, args: Sequence[Any]) -> list[PlacedArray]:
    """The arrays of a launch where the kernel sees them, named by the parameters that point to them."""
    arrays = host_arrays(kernel, args)
    _, addresses = place(arrays)
    parameters = {each.offset: each for each in kernel.signature.parameters}
    placed: list[PlacedArray] = []
    for array, address in zip(arrays, addresses, strict=True):
        parameter = parameters[array.parameter]
        name = f"argument {parameter.index} ({parameter})"
        first = address + array.first - array.address
        placed.append(PlacedArray(name, parameter.index, first, array.last - array.first))
    return placed


def profile(
    kernel: Any,
    grid: Any,
    block: shapes.Dim | None = None,
    args: Sequence[Any] = (),
    device: str | None = None,
    shared: int = 0,
    *,
    exact: bool = True,
    budget: int = WARP_INSTRUCTION_BUDGET,
    threads: int | None = None,
    trace: Trace = FIRST_ACCESSES,
    cooperative: bool = False,
    sanitize: bool = False,
    **options: Any,
) -> Report:
    """Run a kernel on the virtual GPU, on arrays of the CPU, and count what it does.

    `device` names the GPU whose limits, occupancy, roofline and arithmetic are meant; it changes no count.
    With `exact` results have the bits of that GPU, where they are known; without, tensor cores and functions
    are computed faster, and differ in the last places. A launch that runs more than `budget` instructions of
    warps is stopped. Blocks run on as many `threads` of the host; where none are named, on all cores unless
    the order of blocks could be seen in the results. In a `cooperative` launch they may wait for each other.

    `trace` chooses the accesses whose addresses are kept (`report.accesses`): by default the first of every
    instruction. With `sanitize` on, `report.findings` lists what `fp.sanitize` would, and a fault is among
    them instead of raised; the counts are then those up to it. A `@triton.jit` kernel brings its own blocks
    and shared memory; `options` are its keyword arguments.
    """
    wanted = Options(exact=exact, count=True, sanitize=sanitize, budget=budget, threads=threads, trace=trace)
    check_launch("fp.profile", kernel, block, args, shared, cooperative, options)
    if is_triton(kernel):
        return triton_driver().profile(kernel, grid, args, device, wanted, options)
    shape, gpu = prepared("fp.profile", kernel, grid, block, args, device, shared, cooperative)
    return profile_cuda(kernel, shape, args, gpu, wanted)


def check_launch(
    caller: str,
    kernel: Any,
    block: object,
    args: object,
    shared: object,
    cooperative: bool,
    options: Mapping[str, Any],
) -> None:
    """Refuse what is no kernel, and options that are not of its kind."""
    if not isinstance(args, Sequence) or isinstance(args, str):
        raise ArgumentError(
            f"args is {args!r:.80}.", "Give the kernel's arguments as a tuple: args=(n, x, y)."
        )
    if truth(cooperative) is None:
        raise ArgumentError(f"cooperative is {cooperative!r:.80}.", "Give True or False.")
    if is_triton(kernel):
        if block is not None or shared or cooperative:
            raise ArgumentError(
                f"{caller} was given block=, shared= or cooperative= for a Triton kernel.",
                "Triton chooses them itself: leave them out, and pass num_warps= for the number of threads, "
                "launch_cooperative_grid=True for a cooperative launch.",
            )
        return
    if not hasattr(kernel, "packer"):
        raise ArgumentError(
            f"{caller} was given {kernel!r:.80}, which is no kernel.",
            "Give a kernel of fp.compile(…), as module['name'], or a @triton.jit function.",
        )
    if options or block is None:
        what = f"the options {', '.join(options)}" if options else "no block"
        raise ArgumentError(
            f"{caller} was given {what} for the CUDA kernel {kernel.name}.",
            f"Call it as {caller}(kernel, grid=…, block=…, args=(…)).",
        )


def prepared(
    caller: str,
    kernel: Kernel,
    grid: shapes.Dim,
    block: Any,
    args: Sequence[Any],
    device: str | None,
    shared: int,
    cooperative: bool,
) -> tuple[shapes.Shape, gpus.Gpu]:
    """The shape of a launch and the GPU that is played, once the arguments are checked and packed."""
    shape = shapes.Shape(
        shapes.dim3(grid, "grid"),
        shapes.dim3(block, "block"),
        shapes.shared_bytes(shared),
        cooperative=cooperative,
    )
    _, where = kernel.packer.pack(args)
    if where > HOST:
        raise ArgumentError(
            f"{caller} was given arrays on cuda:{where} for {kernel.name}.",
            "Pass arrays on the CPU (x.cpu()): the virtual GPU runs there.",
        )
    return shape, profile_for(kernel.arch, device)


def is_triton(kernel: Any) -> bool:
    """Whether it is a `@triton.jit` function, or one that an autotuner or heuristics wrap."""
    triton: Any = sys.modules.get("triton.runtime.jit")  # whoever has such a function has imported Triton
    return triton is not None and isinstance(kernel, triton.KernelInterface)


def triton_driver() -> Any:
    """Where Triton's kernels are run."""
    return importlib.import_module("flashpath.vgpu.triton_driver")  # imports Triton


def profile_cuda(
    kernel: Kernel, shape: shapes.Shape, args: Sequence[Any], gpu: gpus.Gpu, options: Options
) -> Report:
    """Run a checked launch and make its report."""
    return report_of(kernel, shape, args, gpu, run(kernel, shape, args, gpu, options))


def report_of(
    kernel: Kernel, shape: shapes.Shape, args: Sequence[Any], gpu: gpus.Gpu, result: LaunchResult
) -> Report:
    """The report of a launch that was counted."""
    used = kernel.resources
    occupancy = gpus.occupancy(gpu, math.prod(shape.block), used.registers, used.static_shared + shape.shared)
    report = make_report(
        kernel.name,
        gpu,
        kernel.virtual.listing,
        result,
        occupancy,
        grid=shape.grid,
        block=shape.block,
        footprint=Footprint(used.static_shared, shape.shared, used.registers, used.local_memory),
        arrays=_placed(kernel, args),
    )
    report.findings = tuple(merged(kernel.virtual.findings(result)))
    return report
