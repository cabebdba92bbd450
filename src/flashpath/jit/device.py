"""The real GPUs of this machine, as far as compiling and launching need to know them."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any

from flashpath import gpus, settings
from flashpath.errors import FlashpathError, MissingDevice


class CudaError(FlashpathError):
    """The CUDA driver reported an error."""


@dataclass(frozen=True)
class CudaDevice:
    """One GPU: what the driver says of it."""

    index: int
    name: str
    capability: tuple[int, int]
    sms: int
    max_shared_per_block: int  # with opt-in
    max_grid: tuple[int, int, int]
    max_block: tuple[int, int, int]
    max_threads_per_block: int

    @property
    def arch(self) -> str:
        """The architecture to compile for: with the features of exactly this GPU, where it has such."""
        return arch_of(self.capability)


def arch_of(capability: tuple[int, int]) -> str:
    """The architecture with all features of that compute capability: from Hopper on, the one ending in a."""
    major, minor = capability
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


def driver() -> Any:
    """NVIDIA's driver bindings; importing them needs no driver, calling them does."""
    return importlib.import_module("cuda.bindings.driver")


def checked(result: tuple[Any, ...], doing: str) -> Any:
    """The value of a driver call, or the driver's own words on what went wrong."""
    status = result[0]
    if int(status) != 0:
        bindings = driver()
        _, name = bindings.cuGetErrorName(status)
        _, text = bindings.cuGetErrorString(status)
        raise CudaError(f"{doing}: {name.decode()} ({text.decode()}).", _ADVICE.get(name.decode()))
    return result[1] if len(result) == 2 else result[1:]


_ADVICE = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": "A kernel touched memory out of bounds. The process must be restarted; "
    "run it under compute-sanitizer to find the line.",
    "CUDA_ERROR_OUT_OF_MEMORY": "Free tensors, or use a smaller problem.",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "Compile for this GPU: leave arch= out, or name its own architecture.",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "The block needs more registers than an SM has: use fewer threads, "
    "or __launch_bounds__.",
}


@functools.cache
def count() -> int:
    """How many GPUs there are; 0 where there is no driver."""
    try:
        bindings = driver()
        if int(bindings.cuInit(0)[0]) != 0:
            return 0
        status, number = bindings.cuDeviceGetCount()
        return number if int(status) == 0 else 0
    except (ImportError, RuntimeError):  # RuntimeError: libcuda itself is not on this machine
        return 0


@functools.cache
def device(index: int) -> CudaDevice:
    """The GPU of that index."""
    if not 0 <= index < count():
        raise MissingDevice(
            f"There is no GPU cuda:{index}: this machine has {count()}.",
            "`flashpath doctor` shows what is there.",
        )
    bindings = driver()
    handle = checked(bindings.cuDeviceGet(index), "cuDeviceGet")
    name = checked(bindings.cuDeviceGetName(256, handle), "cuDeviceGetName")

    def attribute(which: str) -> int:
        code = getattr(bindings.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{which}")
        return checked(bindings.cuDeviceGetAttribute(code, handle), which)

    def three(prefix: str) -> tuple[int, int, int]:
        x, y, z = (attribute(f"{prefix}_{axis}") for axis in "XYZ")
        return x, y, z

    return CudaDevice(
        index=index,
        name=name.split(b"\0")[0].decode(),
        capability=(attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")),
        sms=attribute("MULTIPROCESSOR_COUNT"),
        max_shared_per_block=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        max_grid=three("MAX_GRID_DIM"),
        max_block=three("MAX_BLOCK_DIM"),
        max_threads_per_block=attribute("MAX_THREADS_PER_BLOCK"),
    )


def default_arch() -> str:
    """What to compile for where nothing is said: the GPU's own architecture, else sm_80."""
    wanted = (settings.DEVICE.value or "cuda").lower()
    if wanted == "virtual":
        return "sm_80"
    if not wanted.startswith("cuda"):
        return arch_of(gpus.gpu(wanted).capability)
    index = wanted.removeprefix("cuda").removeprefix(":") or "0"
    if not index.isdigit():
        raise FlashpathError(
            f"{settings.DEVICE.name} is {settings.DEVICE.value!r}.",
            "Set it to cuda, cuda:1, virtual, or a GPU's name.",
        )
    return device(int(index)).arch if count() else "sm_80"
