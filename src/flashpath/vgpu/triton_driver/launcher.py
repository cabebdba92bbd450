"""Launches of one kernel that Triton has compiled: its PTX is made ready once, at the first launch."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import Dim3, LaunchShape, dim3
from flashpath.vgpu.cubin import Resources
from flashpath.vgpu.device import VirtualKernel, VirtualModule
from flashpath.vgpu.launch import Launch, MachineCode
from flashpath.vgpu.options import DEFAULT
from flashpath.vgpu.triton_driver import parts
from flashpath.vgpu.triton_driver.arguments import Arguments, shown_arguments
from flashpath.vgpu.triton_places import library_name, with_calls

if TYPE_CHECKING:
    from flashpath.vgpu.triton_driver.driver import VirtualDriver

_LONGEST_FILE_STEM = 150  # Triton cuts the names of its cache's files here


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel that stands for a CUfunction: the GPU that a kernel was loaded on, and what it takes there."""

    gpu: gpus.Gpu
    resources: Resources


@dataclass(frozen=True)
class CompiledKernel:
    """What Triton has made of a kernel; its parts have the names that Triton's own object gives them."""

    src: Any
    metadata: Any
    asm: Mapping[str, str | bytes]


class VirtualLauncher:
    """Triton's `launcher_cls`: made for a kernel's source and metadata, called for each launch."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._source = source
        self._metadata = metadata
        self._arguments = Arguments(source, metadata)
        self._kernel: VirtualKernel | None = None

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: int,
        function: LoadedKernel,
        packed_metadata: Any,
        launch_metadata: Any,
        enter_hook: Any,
        exit_hook: Any,
        *args: Any,
    ) -> None:
        grid = int(grid_x), int(grid_y), int(grid_z)
        scratch = self._scratch(grid, stream)
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if grid[0] * grid[1] * grid[2] > 0:
            self._launch(grid, function, args, scratch)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    # ---- One launch ----------------------------------------------------------------------------------

    def _launch(self, grid: Dim3, function: LoadedKernel, args: Any, scratch: tuple[Any, Any]) -> None:
        driver, metadata = active_driver(), self._metadata
        if driver is not None and not driver.meters:
            driver.launched.setdefault(metadata.hash, self)
        if self._kernel is None:
            self._kernel = self._lower()
        code = MachineCode(lambda: function.resources)
        packed = self._arguments.pack(args, scratch)
        launch = Launch(self._kernel, _shape(metadata, grid), packed, function.gpu, code)
        if driver is not None and driver.schedules is not None and not driver.meters:
            driver.findings += driver.schedules.run(launch)
            return
        options = driver.options if driver else DEFAULT
        if driver is not None and driver.meters:
            options = replace(options, count=True, sanitize=False)
        report = launch.run(options).report
        if driver is not None and report is not None:
            if driver.meters:
                driver.meters[-1].add(function.gpu, report, math.prod(grid), launch.shape.block[0])
            else:
                driver.reports.append(report)

    def _scratch(self, grid: Dim3, stream: int) -> tuple[Any, Any]:
        """The global memory that the kernel itself asks for, from the allocators that the user has set."""
        metadata = self._metadata
        blocks = max(0, grid[0] * grid[1] * grid[2])
        made: list[Any] = []
        for size, alignment, allocator in (
            (metadata.global_scratch_size, metadata.global_scratch_align, parts.global_allocator),
            (metadata.profile_scratch_size, metadata.profile_scratch_align, parts.profile_allocator),
        ):
            made.append(allocator.get()(size * blocks, alignment, stream) if size > 0 else None)
        return made[0], made[1]

    # ---- The kernel ----------------------------------------------------------------------------------

    def _lower(self) -> VirtualKernel:
        name = self._metadata.name
        ptx = self._stage("ptx").read_text()
        kernel = VirtualModule(with_calls(ptx, library_name), library_name).kernel(name)
        self._arguments.check_size(name, kernel.program.parameter_bytes)
        return kernel

    def compiled(self) -> CompiledKernel:
        """Returns the kernel with all of its stages."""
        asm: dict[str, str | bytes] = {
            name: self._stage(name).read_text() for name in ("ttir", "ttgir", "ptx")
        }
        asm["cubin"] = self._stage("cubin").read_bytes()
        return CompiledKernel(self._source, self._metadata, asm)

    def _stage(self, name: str) -> Path:
        """Triton hands its launchers no code; it is in its cache, beside the metadata."""
        stem = self._source.name[:_LONGEST_FILE_STEM]
        path = parts.get_cache_manager(self._metadata.hash).get_file(f"{stem}.{name}")
        if path is None:
            raise FlashpathError("vgpu.no-ptx-kept", kernel=self._metadata.name)
        return Path(path)


def active_driver() -> VirtualDriver | None:
    """The driver of the virtual GPU where that is the one Triton has now."""
    driver: Any = parts.drivers._active
    return driver if getattr(driver, "launcher_cls", None) is VirtualLauncher else None


def _shape(metadata: Any, grid: Dim3) -> LaunchShape:
    block = (metadata.num_warps * gpus.WARP_SIZE, 1, 1)
    ctas: int = metadata.num_ctas  # blocks of a cluster, which Triton counts as one
    cluster = (ctas, 1, 1) if ctas > 1 else None
    blocks = grid[0] * ctas, grid[1], grid[2]
    return LaunchShape(
        dim3(blocks, "grid"), block, metadata.shared, cluster, bool(metadata.launch_cooperative_grid)
    )


# ---- On a GPU ------------------------------------------------------------------------------------------


class ShownLauncher:
    """Prints each launch, for FLASHPATH_DEBUG, and hands it on to the launcher of Triton's own driver."""

    def __init__(self, launcher_class: Any, source: Any, metadata: Any) -> None:
        self._launch = launcher_class(source, metadata)
        self._source = source
        self._metadata = metadata

    def __call__(self, grid_x: int, grid_y: int, grid_z: int, stream: int, *rest: Any) -> None:
        grid = int(grid_x), int(grid_y), int(grid_z)
        if math.prod(grid) > 0:
            arguments = shown_arguments(self._source, rest[-len(self._source.signature) :])
            _shape(self._metadata, grid).show(self._metadata.name, f"stream {stream:#x}", arguments)
        self._launch(grid_x, grid_y, grid_z, stream, *rest)


def show_launches() -> None:
    """Has Triton's driver show the launches of kernels that are first launched from now on."""
    driver: Any = parts.drivers.active
    if not isinstance(driver.launcher_cls, functools.partial):
        driver.launcher_cls = functools.partial(ShownLauncher, driver.launcher_cls)
