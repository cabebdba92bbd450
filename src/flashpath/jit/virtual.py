"""Launches on the virtual GPU: arrays of the host, found and described; shapes, checked against a profile."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from flashpath import gpus, settings
from flashpath.errors import FlashpathError
from flashpath.jit import shape as shapes
from flashpath.jit.arguments import HOST, ArgumentError, Strided, view_of
from flashpath.vgpu.device import WARP_INSTRUCTION_BUDGET, HostArray
from flashpath.vgpu.report import Report, make_report

if TYPE_CHECKING:
    from flashpath.jit.module import Kernel
    from flashpath.vgpu._engine import LaunchResult


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


def profile_for(arch: str, device: str | None = None) -> gpus.Gpu:
    """The GPU that is played: the one named here or in FLASHPATH_DEVICE, else the architecture's own."""
    name = device or settings.DEVICE.value or "virtual"
    if name.lower() != "virtual" and not name.lower().startswith("cuda"):
        return gpus.gpu(name)
    try:
        return gpus.gpu_for_arch(arch)
    except FlashpathError:  # no product of that architecture is described: the newest that is not newer
        capability = gpus.parse_arch(arch).capability
        older = [gpu for gpu in gpus.gpus() if gpu.capability <= capability]
        return (older or gpus.gpus())[-1]


@functools.cache
def _max_threads(gpu: gpus.Gpu, registers: int) -> int:
    """The largest block whose registers an SM has."""
    most = gpu.architecture.max_threads_per_block
    fitting = (
        threads
        for threads in range(most, 0, -gpus.WARP_SIZE)
        if gpus.occupancy(gpu, threads, registers, 0).blocks_per_sm
    )
    return next(fitting, most)


# ---- Arrays --------------------------------------------------------------------------------------------


def _bounds(address: int, shape: Sequence[int], strides: Sequence[int], size: int) -> tuple[int, int]:
    """The first byte of an array and the one after its last; strides in bytes, of either sign."""
    if 0 in shape:
        return address, address
    steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
    first = address + sum(step for step in steps if step < 0)
    return first, address + sum(step for step in steps if step > 0) + size


def _describe(parameter: int, array: Any) -> HostArray:
    if hasattr(array, "untyped_storage"):
        size = array.element_size()
        address = array.data_ptr()
        strides = [stride * size for stride in array.stride()]
        first, last = _bounds(address, array.shape, strides, size)
        storage = array.untyped_storage()
        owner_first = storage.data_ptr()
        owner_last = owner_first + storage.nbytes()
        writable = True
    else:
        view = cast("np.ndarray[Any, Any]", array if isinstance(array, np.ndarray) else np.from_dlpack(array))
        address = view.ctypes.data
        first, last = _bounds(address, view.shape, view.strides, view.itemsize)
        root = view
        while isinstance(root.base, np.ndarray):
            root = cast("np.ndarray[Any, Any]", root.base)
        owner_first, owner_last = _bounds(root.ctypes.data, root.shape, root.strides, root.itemsize)
        writable = bool(view.flags.writeable)
    owner_first, owner_last = min(first, owner_first), max(last, owner_last)
    return HostArray(parameter, address, first, last, owner_first, owner_last, writable)


def host_arrays(kernel: Kernel, args: Sequence[Any]) -> list[HostArray]:
    """The arrays among a launch's arguments. Null pointers and bare addresses stay what they are."""
    found: list[HostArray] = []
    for parameter, argument in zip(kernel.signature.parameters, args, strict=True):
        if parameter.kind != "pointer" or argument is None:
            continue
        array = argument.tensor if isinstance(argument, Strided) else argument
        if view_of(array) is not None:
            described = _describe(parameter.offset, array)
            if described.address:
                found.append(described)
    return found


# ---- Launches ------------------------------------------------------------------------------------------


def run(
    kernel: Kernel,
    shape: shapes.Shape,
    args: Sequence[Any],
    gpu: gpus.Gpu,
    *,
    count: bool = False,
    budget: int = WARP_INSTRUCTION_BUDGET,
    threads: int | None = None,
) -> LaunchResult:
    """Check the shape and run the kernel; the arguments have been checked."""
    if shape.cluster is not None or shape.cooperative:
        what = "clusters" if shape.cluster is not None else "cooperative launches"
        raise shapes.LaunchError(f"The virtual GPU does not run {what} yet.", "Run it on a GPU.")
    most = min(kernel.max_threads or 1024, _max_threads(gpu, kernel.resources.registers))
    shapes.check_shape(shape, VirtualLimits(gpu), kernel.name, most, kernel.resources.static_shared)
    virtual = kernel.virtual
    parameters = kernel.packer.packed()
    return virtual.launch(
        shape.grid,
        shape.block,
        shape.shared,
        parameters,
        host_arrays(kernel, args),
        count=count,
        budget=budget,
        threads=threads,
        multiprocessors=gpu.sm_count,
    )


def profile(
    kernel: Kernel,
    grid: shapes.Dim,
    block: shapes.Dim,
    args: Sequence[Any] = (),
    device: str | None = None,
    shared: int = 0,
    *,
    budget: int = WARP_INSTRUCTION_BUDGET,
    threads: int | None = None,
) -> Report:
    """Run a kernel on the virtual GPU, on arrays of the CPU, and count what it does.

    `device` names the GPU whose limits, occupancy and roofline are meant; it changes no count. A launch that
    runs more than `budget` instructions of warps is stopped. Blocks run on as many `threads` of the host;
    where none are named, on all cores unless the order of blocks could be seen in the results.
    """
    shape = shapes.Shape(shapes.dim3(grid, "grid"), shapes.dim3(block, "block"), int(shared))
    _, where = kernel.packer.pack(args)
    if where > HOST:
        raise ArgumentError(
            f"fp.profile was given arrays on cuda:{where} for {kernel.name}.",
            "Pass arrays on the CPU (x.cpu()): the virtual GPU runs there.",
        )
    gpu = profile_for(kernel.arch, device)
    result = run(kernel, shape, args, gpu, count=True, budget=budget, threads=threads)
    used = kernel.resources
    threads = shape.block[0] * shape.block[1] * shape.block[2]
    occupancy = gpus.occupancy(gpu, threads, used.registers, used.static_shared + shape.shared)
    return make_report(kernel.name, gpu, kernel.virtual.program, result, occupancy)
