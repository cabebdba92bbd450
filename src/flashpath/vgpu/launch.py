"""Launches on the virtual GPU: the one way from Python into the engine.

Whoever launches packs: `Launch` takes a kernel, the launch's shape, its packed arguments, the GPU that is
played and what the kernel's machine code takes of an SM. It checks the launch against that GPU, runs it, and
gives the result with its findings and, where it was counted, its report.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from flashpath import gpus, settings
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import Dim3, LaunchError, LaunchShape, check_shape
from flashpath.vgpu.device import HostArray, VirtualKernel, engine, place
from flashpath.vgpu.findings import Finding, KernelFault, merged
from flashpath.vgpu.options import DEFAULT, Options
from flashpath.vgpu.profiles import ProfileLimits, max_threads, resident_blocks
from flashpath.vgpu.report import PlacedArray, Report, make_report

if TYPE_CHECKING:
    from flashpath.vgpu import _engine
    from flashpath.vgpu._engine import LaunchResult
    from flashpath.vgpu.cubin import Resources

# What CUDA gives a block at most, on any GPU.
MOST_SHARED_BYTES = 227 << 10
MOST_BLOCKS_OF_CLUSTER = 8  # on any GPU that has clusters
_MOST_REGISTERS = 255  # that a thread can have


def _unnamed(parameter: int) -> tuple[int, str]:
    return parameter, ""


class Packed(NamedTuple):
    """The arguments of a launch: the bytes of its parameters, and the host's memory that they point to."""

    parameters: bytes  # pointers to arrays are replaced by their device addresses
    arrays: Sequence[HostArray] = ()
    pointed_to: Sequence[HostArray] = ()
    """Memory whose host addresses the kernel finds inside its arrays; it stays at those."""
    named: Callable[[int], tuple[int, str]] = _unnamed
    """Which argument the pointer at an offset is, and its type as people write it."""
    shown: Callable[[], str] = str
    """The arguments for people, where FLASHPATH_DEBUG shows launches."""


class MachineCode(NamedTuple):
    """What is known of a kernel's machine code. ptxas takes as long as the compiler before it, so its answer
    is waited for only where it matters."""

    resources: Callable[[], Resources]
    assembled: bool = True
    max_threads: int | None = None  # __launch_bounds__, where the source has them


@dataclass(frozen=True)
class Launched:
    """The result of a launch."""

    kernel: VirtualKernel
    result: LaunchResult
    addresses: Sequence[int]
    """The addresses at which the kernel saw its arrays."""
    report: Report | None
    """What was counted; None where nothing was."""

    @functools.cached_property
    def findings(self) -> list[Finding]:
        """Returns what a sanitised launch found; the fault that ended it, if one did, is the last."""
        return self.kernel.findings(self.result)


@dataclass(frozen=True)
class Launch:
    """One launch, ready to run. Without a GPU or machine code it is held to no product's limits."""

    kernel: VirtualKernel
    shape: LaunchShape
    arguments: Packed
    gpu: gpus.Gpu | None = None
    code: MachineCode | None = None

    def run(self, options: Options = DEFAULT) -> Launched:
        """Runs all blocks. A fault is raised, unless the launch is sanitised: then `findings` lists it."""
        name, shape = self.kernel.name, self.shape
        if settings.debug():
            shape.show(name, f"virtual {self.gpu.name if self.gpu else 'GPU'}", self.arguments.shown())
        chosen = self._engine_options(options)
        self._check_memory()
        parameters, arrays, pointed_to, *_ = self.arguments
        segments, addresses = place(arrays, pointed_to)
        packed = bytearray(parameters)
        for array, address in zip(arrays, addresses, strict=True):
            packed[array.parameter : array.parameter + 8] = address.to_bytes(8, "little")
        try:
            result = self.kernel.program.launch(
                shape.grid, shape.block, shape.shared, bytes(packed), segments, chosen, _show
            )
        except MemoryError:
            raise FlashpathError("vgpu.no-memory-for-blocks", kernel=name, count=chosen.threads) from None
        if result.fault_kind and not options.sanitize:
            raise KernelFault(name, self.kernel.findings(result)[-1])
        return Launched(self.kernel, result, addresses, self._report(result, addresses, options))

    # ---- What it may take ----------------------------------------------------------------------------

    def _check_memory(self) -> None:
        """Refuses what no GPU has: the shared memory of a block is allocated as a whole."""
        name, total = self.kernel.name, self.kernel.program.shared_bytes + self.shape.shared
        if total > MOST_SHARED_BYTES:
            raise FlashpathError(
                "vgpu.too-much-shared-memory", kernel=name, bytes=total, most=MOST_SHARED_BYTES
            )

    def _resident_blocks(self, counted: bool) -> int:
        """Checks the shape, and returns how many blocks the GPU holds at once (0: all)."""
        gpu, code, shape = self.gpu, self.code, self.shape
        if gpu is None or code is None:
            return 0
        limits, threads, blocks = ProfileLimits(gpu), math.prod(shape.block), math.prod(shape.grid)
        static_shared = self.kernel.program.shared_bytes
        registers = _MOST_REGISTERS
        resident = resident_blocks(gpu, threads, registers, static_shared + shape.shared)
        if counted or code.assembled or blocks > resident:  # where all fit, fewer registers change nothing
            used = code.resources()
            registers, static_shared = used.registers, used.static_shared
            resident = resident_blocks(gpu, threads, registers, static_shared + shape.shared)
        most = min(code.max_threads or 1024, max_threads(gpu, registers))
        check_shape(shape, limits, self.kernel.name, most, static_shared)
        if shape.cooperative and blocks > resident:
            raise LaunchError(
                "vgpu.cooperative-does-not-fit",
                kernel=self.kernel.name,
                blocks=blocks,
                gpu=gpu.name,
                resident=resident,
                per_sm=resident // gpu.sm_count,
                sms=gpu.sm_count,
            )
        return resident

    def _cluster(self) -> Dim3 | None:
        """Checks and returns the extent of clusters that the launch asks for; None where it asks for none.

        What the kernel itself asks for (`__cluster_dims__`) it has in any case.
        """
        shape, kernel = self.shape, self.kernel
        x, y, z = kernel.program.cluster
        own = x, y, z
        cluster = shape.cluster or own
        if cluster == (0, 0, 0):
            return None
        name = kernel.name
        if own not in ((0, 0, 0), cluster):
            raise LaunchError("vgpu.other-cluster", kernel=name, own=str(own), given=str(cluster))
        if math.prod(cluster) > MOST_BLOCKS_OF_CLUSTER:
            raise LaunchError("vgpu.cluster-too-large", cluster=str(cluster), most=MOST_BLOCKS_OF_CLUSTER)
        if self.gpu is not None and self.gpu.capability < (9, 0):
            raise LaunchError("vgpu.no-clusters", kernel=name, gpu=self.gpu.name)
        if any(blocks % size for blocks, size in zip(shape.grid, cluster, strict=True)):
            raise LaunchError("gpus.no-multiple-of-cluster", grid=str(shape.grid), cluster=str(cluster))
        return shape.cluster

    def _engine_options(self, options: Options) -> _engine.Options:
        shape, trace = self.shape, options.trace
        made: _engine.Options = engine().Options()
        made.exact, made.count, made.sanitize = options.exact, options.count, options.sanitize
        made.seed, made.budget, made.accessed = options.seed, options.budget, options.accessed
        made.resident_blocks, made.cooperative = self._resident_blocks(options.count), shape.cooperative
        made.cluster = self._cluster()
        # Blocks that wait for each other run on one thread.
        made.threads = 1 if shape.cooperative else options.host_threads(self.kernel.program.order_matters)
        made.runs_to_end = self.kernel.runs_to_end
        number, warp = trace.block_number(shape.grid), trace.warp_number(shape.block)
        made.trace = -1 if number is None else number, -1 if warp is None else warp, trace.requests
        if self.gpu is not None:
            made.multiprocessors, made.capability = self.gpu.sm_count, self.gpu.capability
        return made

    # ---- What it gave --------------------------------------------------------------------------------

    def _report(self, result: LaunchResult, addresses: Sequence[int], options: Options) -> Report | None:
        if not options.count or self.gpu is None or self.code is None:
            return None
        placed = [
            PlacedArray(type_, argument, address + array.first - array.address, array.last - array.first)
            for array, address in zip(self.arguments.arrays, addresses, strict=True)
            for argument, type_ in [self.arguments.named(array.parameter)]
        ]
        kernel, used = self.kernel, self.code.resources()
        report = make_report(kernel.name, self.gpu, kernel.listing, result, self.shape, used, placed)
        report.findings = tuple(merged(self.kernel.findings(result)))
        return report


def _show(text: bytes) -> None:
    """Writes what a kernel prints to where Python's own output goes."""
    sys.stdout.write(text.decode(errors="replace"))
    sys.stdout.flush()
