"""The virtual GPU as a user of Triton holds it: which GPU it plays, on or off, what its launches counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.vgpu.findings import Finding, merged
from flashpath.vgpu.options import WARP_INSTRUCTION_BUDGET, Options
from flashpath.vgpu.profiles import named_profile
from flashpath.vgpu.report import FIRST_ACCESSES, Report, Trace
from flashpath.vgpu.sanitizing import Schedules
from flashpath.vgpu.triton_driver import parts, tuning
from flashpath.vgpu.triton_driver.driver import VirtualDriver
from flashpath.vgpu.triton_driver.launcher import CompiledKernel, active_driver

_DEFAULT_ARCH = "sm_80"


class TritonGpu:
    """Triton's driver on the virtual GPU. As a context manager it is on inside of it; contexts nest.

    `gpu` is the GPU that is played, `arch` what Triton compiles for. With `profile` on, `reports` holds what
    each launch counted; the runs of an autotuner that compares configurations are not among them.
    """

    def __init__(
        self, gpu: gpus.Gpu, arch: gpus.Arch, options: Options, reports: list[Report] | None = None
    ) -> None:
        self.gpu = gpu
        self.arch = arch
        self.reports = [] if reports is None else reports
        self.driver = VirtualDriver(gpu, arch, self.reports, options)
        self._before: list[Any] = []

    def __enter__(self) -> TritonGpu:
        # `active` would ask for a driver where none was ever needed, and fail where there is no GPU.
        self._before.append(parts.drivers._active)
        parts.drivers.set_active(self.driver)
        tuning.by_counts()
        return self

    def __exit__(self, *_: object) -> None:
        parts.drivers._active = self._before.pop()
        if active_driver() is None:
            tuning.by_clock()

    @property
    def kernels(self) -> list[CompiledKernel]:
        """The kernels that were launched, in the order of their first launches, as Triton compiled them."""
        return [launcher.compiled() for launcher in self.driver.launched.values()]

    def __repr__(self) -> str:
        return f"TritonGpu({self.gpu.name}, {self.arch})"


def triton(
    arch: str | None = None,
    device: str | None = None,
    *,
    exact: bool = True,
    profile: bool = False,
    budget: int = WARP_INSTRUCTION_BUDGET,
    threads: int | None = None,
    trace: Trace = FIRST_ACCESSES,
) -> TritonGpu:
    """Run `@triton.jit` kernels on the virtual GPU: `with fp.vgpu.triton(): kernel[grid](…)`.

    `device` names the GPU that is played ("A100", "RTX 4090"), `arch` the architecture that Triton compiles
    for ("sm_80"); each follows from the other, and together they default to FLASHPATH_DEVICE or an A100.
    With `exact` results have the bits of that GPU, where they are known; without, tensor cores and functions
    are computed faster, and differ in the last places. `profile` keeps a report of each launch in `reports`.
    A launch that runs more than `budget` instructions of warps is stopped. Blocks run on as many `threads`
    of the host; where none are named, on all cores unless the order of blocks could be seen in the results.
    `trace` chooses the accesses whose addresses a report keeps.
    """
    return _made(arch, device, Options(exact, profile, trace, budget=budget, threads=threads))


def watched(device: str | None, options: Options, reports: list[Report]) -> TritonGpu:
    """Returns what `triton` does, with reports added to a list that others add to as well."""
    return _made(None, device, options, reports)


def _made(
    arch: str | None, device: str | None, options: Options, reports: list[Report] | None = None
) -> TritonGpu:
    named = named_profile(device)
    if arch is None:
        arch = _arch_of(named) if named else _DEFAULT_ARCH
    parsed = gpus.parse_arch(arch)
    gpu = named or gpus.gpu_for_arch(parsed)
    if parsed.capability > gpu.capability:
        raise FlashpathError("vgpu.arch-too-new", arch=str(parsed), gpu=gpu.name, own=_arch_of(gpu))
    return TritonGpu(gpu, parsed, options, reports)


def _arch_of(gpu: gpus.Gpu) -> str:
    return f"sm_{gpu.capability[0]}{gpu.capability[1]}"


_enabled: list[TritonGpu] = []


def enable_triton(
    arch: str | None = None,
    device: str | None = None,
    *,
    exact: bool = True,
    profile: bool = False,
    budget: int = WARP_INSTRUCTION_BUDGET,
    threads: int | None = None,
    trace: Trace = FIRST_ACCESSES,
) -> TritonGpu:
    """Switch Triton to the virtual GPU until `disable_triton`; the options are those of `triton`."""
    gpu = triton(arch, device, exact=exact, profile=profile, budget=budget, threads=threads, trace=trace)
    _enabled.append(gpu.__enter__())
    return gpu


def disable_triton() -> None:
    """Undo the last `enable_triton`: Triton has the driver back that it had before."""
    if not _enabled:
        raise FlashpathError("vgpu.triton-not-virtual")
    _enabled.pop().__exit__()


def profile(
    kernel: Any,
    grid: int | Sequence[int] | Callable[[Mapping[str, Any]], Sequence[int]],
    args: Sequence[Any],
    device: str | None,
    options: Options,
    keywords: Mapping[str, Any],
) -> Report:
    """Run a `@triton.jit` kernel on CPU tensors and count; `keywords` are its keyword arguments."""
    _check_arrays(args, keywords)
    shape = (grid,) if isinstance(grid, int) else grid
    with _made(None, device, options) as gpu:
        kernel[shape](*args, **keywords)
    if not gpu.reports:
        raise FlashpathError("vgpu.empty-grid")
    return gpu.reports[-1]


def sanitize(
    kernel: Any,
    grid: int | Sequence[int] | Callable[[Mapping[str, Any]], Sequence[int]],
    args: Sequence[Any],
    device: str | None,
    schedules: Schedules,
    keywords: Mapping[str, Any],
) -> list[Finding]:
    """Run a `@triton.jit` kernel on CPU tensors and list what is wrong; `keywords` are its own arguments."""
    _check_arrays(args, keywords)
    shape = (grid,) if isinstance(grid, int) else grid
    with _made(None, device, schedules.options) as gpu:
        gpu.driver.schedules = schedules
        kernel[shape](*args, **keywords)
    return merged(gpu.driver.findings)


def _check_arrays(args: Sequence[Any], keywords: Mapping[str, Any]) -> None:
    for place, value in [*enumerate(args), *keywords.items()]:
        if isinstance(value, np.ndarray):
            raise FlashpathError("vgpu.numpy-for-triton", place=place)
