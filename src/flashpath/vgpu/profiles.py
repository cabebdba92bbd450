"""The GPU that a launch plays, and what its registers allow."""

from __future__ import annotations

import functools

from flashpath import gpus, settings
from flashpath.errors import FlashpathError


def named_profile(device: str | None = None) -> gpus.Gpu | None:
    """The GPU named here or in FLASHPATH_DEVICE; None where no product is named."""
    name = str(device or settings.DEVICE.value or "virtual")  # what is no text is no GPU's name either
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
    """How many blocks of a kernel the GPU holds at once."""
    return gpus.occupancy(gpu, threads, registers, shared).blocks_per_sm * gpu.sm_count


def check_cooperative(
    name: str, gpu: gpus.Gpu, blocks: int, resident: int, error: type[FlashpathError] = FlashpathError
) -> None:
    """Refuse a cooperative launch whose blocks are not all resident at once, as CUDA does."""
    if blocks > resident:
        raise error(
            f"{name}: a cooperative launch of {blocks} blocks; {gpu.name} holds {resident} of them at once "
            f"({resident // gpu.sm_count} on each of its {gpu.sm_count} multiprocessors).",
            f"Launch at most {resident} blocks, and let each do more in a loop.",
        )
