"""The GPU that a launch plays, and what it allows."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from flashpath import gpus, settings
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import MAX_BLOCK, MAX_GRID, Dim3


def named_profile(device: str | None = None) -> gpus.Gpu | None:
    """The GPU named here or in FLASHPATH_DEVICE; None where no product is named."""
    name = str(device or settings.DEVICE.value or "virtual")  # a GPU's name must be text
    if name.lower() == "virtual" or name.lower().startswith("cuda"):
        return None
    return gpus.gpu(name)


def profile_for(arch: str, device: str | None = None) -> gpus.Gpu:
    """The GPU that is played: the one named here or in FLASHPATH_DEVICE, else the architecture's own."""
    if (named := named_profile(device)) is not None:
        return named
    try:
        return gpus.gpu_for_arch(arch)
    except FlashpathError:  # no product of that architecture is described: the newest that is not newer
        capability = gpus.parse_arch(arch).capability
        older = [gpu for gpu in gpus.gpus() if gpu.capability <= capability]
        return (older or gpus.gpus())[-1]


@dataclass(frozen=True)
class ProfileLimits:
    """A profile's limits of a launch."""

    gpu: gpus.Gpu
    max_grid: Dim3 = MAX_GRID
    max_block: Dim3 = MAX_BLOCK

    @property
    def name(self) -> str:
        return self.gpu.name

    @property
    def max_threads_per_block(self) -> int:
        return self.gpu.architecture.max_threads_per_block

    @property
    def max_shared_per_block(self) -> int:
        return self.gpu.architecture.max_shared_per_block_bytes


@functools.cache
def max_threads(gpu: gpus.Gpu, registers: int) -> int:
    """The largest block whose registers an SM has."""
    most = gpu.architecture.max_threads_per_block
    fitting = (
        threads
        for threads in range(most, 0, -gpus.WARP_SIZE)
        if gpus.occupancy(gpu, threads, registers, 0).blocks_per_sm
    )
    return next(fitting, most)


@functools.cache
def resident_blocks(gpu: gpus.Gpu, threads: int, registers: int, shared: int) -> int:
    """Returns how many blocks of a kernel the GPU holds at once."""
    return gpus.occupancy(gpu, threads, registers, shared).blocks_per_sm * gpu.sm_count
