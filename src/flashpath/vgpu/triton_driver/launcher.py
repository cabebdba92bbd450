"""Launches of one kernel that Triton has compiled: its PTX is made ready once, at the first launch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.vgpu.device import HostArray, VirtualKernel, VirtualModule
from flashpath.vgpu.findings import Dim3, merged
from flashpath.vgpu.options import DEFAULT, Options
from flashpath.vgpu.profiles import check_cooperative, resident_blocks
from flashpath.vgpu.report import Footprint, Report, make_report
from flashpath.vgpu.triton_driver import parts
from flashpath.vgpu.triton_driver.arguments import Arguments
from flashpath.vgpu.triton_places import library_name, with_calls

if TYPE_CHECKING:
    from flashpath.vgpu._engine import LaunchResult
    from flashpath.vgpu.triton_driver.driver import VirtualDriver

_MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)
_LONGEST_FILE_STEM = 150  # Triton cuts the names of its cache's files here


@dataclass(frozen=True)
class LoadedKernel:
    """What stands for a CUfunction: the GPU that a kernel was loaded on, and what a thread takes there."""

    gpu: gpus.Gpu
    registers: int
    local_bytes: int


class VirtualLauncher:
    """Triton's `launcher_cls`: made for a kernel's source and metadata, called for each launch."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._source = source
        self._metadata = metadata
        self._block: Dim3 = (metadata.num_warps * gpus.WARP_SIZE, 1, 1)
        self._arguments = Arguments(source, metadata)
        self._kernel: VirtualKernel | None = None
        if metadata.num_ctas > 1:
            raise FlashpathError("The virtual GPU does not run clusters (num_ctas > 1).", "Run it on a GPU.")

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
        self._check(grid)
        driver = active_driver()
        if self._kernel is None:
            self._kernel = self._lower()
        parameters, arrays, pointed_to = self._arguments.pack(args, scratch)
        metadata, gpu, kernel = self._metadata, function.gpu, self._kernel
        resident = resident_blocks(gpu, self._block[0], function.registers, metadata.shared)
        if metadata.launch_cooperative_grid:
            check_cooperative(metadata.name, gpu, math.prod(grid), resident)

        def launch(options: Options) -> LaunchResult:
            return kernel.launch(
                grid,
                self._block,
                metadata.shared,
                parameters,
                arrays,
                options,
                gpu=gpu,
                resident_blocks=resident,
                cooperative=bool(metadata.launch_cooperative_grid),
                pointed_to=pointed_to,
            )

        if driver is not None and driver.schedules is not None and not driver.meters:
            driver.findings += driver.schedules.run(kernel, [*arrays, *pointed_to], launch)
            return
        options = driver.options if driver else DEFAULT
        if driver is not None and driver.meters:
            options = replace(options, count=True, sanitize=False)
        result = launch(options)
        if driver is not None and options.count:
            report = self._report(grid, function, result, arrays)
            blocks = grid[0] * grid[1] * grid[2]
            if driver.meters:
                driver.meters[-1].add(function.gpu, report, blocks, self._block[0])
            else:
                driver.reports.append(report)

    def _check(self, grid: Dim3) -> None:
        for axis, got, most in zip("xyz", grid, _MAX_GRID, strict=True):
            if not 0 < got <= most:
                raise FlashpathError(
                    f"{self._metadata.name}: the grid {grid} has {got} blocks along {axis}.",
                    f"It may have 1 to {most} there.",
                )

    def _report(
        self, grid: Dim3, function: LoadedKernel, result: LaunchResult, arrays: Sequence[HostArray]
    ) -> Report:
        assert self._kernel is not None
        occupancy = gpus.occupancy(function.gpu, self._block[0], function.registers, self._metadata.shared)
        shared = self._metadata.shared
        report = make_report(
            self._metadata.name,
            function.gpu,
            self._kernel.listing,
            result,
            occupancy,
            grid=grid,
            block=self._block,
            footprint=Footprint(0, shared, function.registers, function.local_bytes),
            arrays=self._arguments.placed(arrays),
        )
        report.findings = tuple(merged(self._kernel.findings(result)))
        return report

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
        kernel = VirtualModule(with_calls(self._ptx(), library_name), library_name).kernel(name)
        self._arguments.check_size(name, kernel.program.parameter_bytes)
        return kernel

    def _ptx(self) -> str:
        """Triton hands its launchers no code; the PTX is in its cache, beside the metadata."""
        stem = self._source.name[:_LONGEST_FILE_STEM]
        path = parts.get_cache_manager(self._metadata.hash).get_file(f"{stem}.ptx")
        if path is None:
            raise FlashpathError(
                f"Triton has kept no PTX of {self._metadata.name} in its cache.",
                "Unset TRITON_STORE_BINARY_ONLY and empty Triton's cache: the virtual GPU runs PTX.",
            )
        return Path(path).read_text()


def active_driver() -> VirtualDriver | None:
    """The driver of the virtual GPU where that is the one Triton has now."""
    driver: Any = parts.drivers._active
    return driver if getattr(driver, "launcher_cls", None) is VirtualLauncher else None
