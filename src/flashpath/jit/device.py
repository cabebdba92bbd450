"""The real GPUs of this machine, as the driver describes them; read without torch and without a context."""

from __future__ import annotations

import functools
import importlib
import sys
from dataclasses import dataclass
from typing import Any

from flashpath import gpus, settings
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.messages import Message


class CudaError(FlashpathError):
    """The CUDA driver reported an error."""


class DriverError(CudaError):
    """The driver is installed and refuses to start."""


@dataclass(frozen=True)
class CudaDevice:
    """One GPU, in the driver's figures."""

    index: int
    name: str
    capability: tuple[int, int]
    sm_count: int
    max_shared_per_block: int  # with opt-in
    max_grid: tuple[int, int, int]
    max_block: tuple[int, int, int]
    max_threads_per_block: int
    shared_per_sm_bytes: int
    l2_bytes: int
    memory_bytes: int
    memory_clock_khz: int
    memory_bus_bits: int

    @property
    def arch(self) -> str:
        """The architecture to compile for: with the features of exactly this GPU, where it has such."""
        return arch_of(self.capability)

    @property
    def bandwidth_gb_per_s(self) -> float:
        """Two transfers a clock over the whole bus: the figure of data sheets for HBM."""
        return 2 * self.memory_clock_khz * 1e3 * self.memory_bus_bits / 8 / 1e9


def arch_of(capability: tuple[int, int]) -> str:
    """The architecture with all features of that compute capability: from Hopper on, the one ending in a."""
    major, minor = capability
    return f"sm_{major}{minor}" + ("a" if major >= 9 else "")


# ---- The driver ----------------------------------------------------------------------------------------


def driver() -> Any:
    """NVIDIA's driver bindings; importing them needs no driver, calling them does."""
    return importlib.import_module("cuda.bindings.driver")


def checked(result: tuple[Any, ...], doing: Message | str) -> Any:
    """The value of a driver call, or the driver's own words on what went wrong."""
    status = result[0]
    if int(status) != 0:
        bindings = driver()
        _, name = bindings.cuGetErrorName(status)
        _, text = bindings.cuGetErrorString(status)
        raise CudaError(
            "jit.cuda-error",
            doing=doing,
            name=name.decode(),
            text=text.decode(),
            advice=_ADVICE.get(name.decode(), ""),
        )
    return result[1] if len(result) == 2 else result[1:]


_ADVICE = {
    "CUDA_ERROR_ILLEGAL_ADDRESS": Message("jit.illegal-address"),
    "CUDA_ERROR_OUT_OF_MEMORY": Message("jit.out-of-memory"),
    "CUDA_ERROR_NO_BINARY_FOR_GPU": Message("jit.no-binary-for-gpu"),
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": Message("jit.launch-out-of-resources"),
}


def _has_driver_library() -> bool:
    """Whether libcuda can be loaded at all: to import the bindings for nothing takes a sixth of a second."""
    if "cuda.bindings.driver" in sys.modules:
        return True  # they look for it themselves
    import ctypes

    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


@functools.cache
def driver_version() -> tuple[int, int] | None:
    """The newest CUDA version that the driver runs; None without a driver."""
    if not _has_driver_library():
        return None
    try:
        version = checked(driver().cuDriverGetVersion(), "cuDriverGetVersion")
    except (ImportError, RuntimeError):  # RuntimeError: libcuda itself is not on this machine
        return None
    return version // 1000, version % 1000 // 10


# ---- The GPUs ------------------------------------------------------------------------------------------


@functools.cache
def devices() -> tuple[CudaDevice, ...]:
    """All GPUs that this process may see; none without a driver."""
    if driver_version() is None:
        return ()
    bindings = driver()
    (status,) = bindings.cuInit(0)
    if status == bindings.CUresult.CUDA_ERROR_NO_DEVICE:
        return ()
    if int(status) != 0:
        raise DriverError("jit.driver-refuses", status=status.name)
    return tuple(_read(index) for index in range(checked(bindings.cuDeviceGetCount(), "cuDeviceGetCount")))


def count() -> int:
    """Returns how many GPUs can be used; a driver in trouble counts as none: `flashpath doctor` tells why."""
    try:
        return len(devices())
    except DriverError:
        return 0


def device(index: int) -> CudaDevice:
    """The GPU of that index."""
    if not 0 <= index < count():
        raise MissingDevice("jit.no-such-gpu", index=index, count=count())
    return devices()[index]


def _read(index: int) -> CudaDevice:
    bindings = driver()
    handle = checked(bindings.cuDeviceGet(index), "cuDeviceGet")
    name: bytes = checked(bindings.cuDeviceGetName(256, handle), "cuDeviceGetName")

    def attribute(which: str) -> int:
        code = getattr(bindings.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{which}")
        return checked(bindings.cuDeviceGetAttribute(code, handle), which)

    def three(prefix: str) -> tuple[int, int, int]:
        x, y, z = (attribute(f"{prefix}_{axis}") for axis in "XYZ")
        return x, y, z

    return CudaDevice(
        index=index,
        name=name.split(b"\0")[0].decode(errors="replace"),
        capability=(attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")),
        sm_count=attribute("MULTIPROCESSOR_COUNT"),
        max_shared_per_block=attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        max_grid=three("MAX_GRID_DIM"),
        max_block=three("MAX_BLOCK_DIM"),
        max_threads_per_block=attribute("MAX_THREADS_PER_BLOCK"),
        shared_per_sm_bytes=attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        l2_bytes=attribute("L2_CACHE_SIZE"),
        memory_bytes=checked(bindings.cuDeviceTotalMem(handle), "cuDeviceTotalMem"),
        memory_clock_khz=attribute("MEMORY_CLOCK_RATE"),
        memory_bus_bits=attribute("GLOBAL_MEMORY_BUS_WIDTH"),
    )


# ---- What to compile for -------------------------------------------------------------------------------


def default_arch() -> str:
    """Returns the architecture to compile for where none is named: the GPU's own, else sm_80."""
    wanted = (settings.DEVICE.value or "cuda").lower()
    if wanted == "virtual":
        return "sm_80"
    if not wanted.startswith("cuda"):
        try:
            return arch_of(gpus.gpu(wanted).capability)
        except FlashpathError as error:
            raise FlashpathError(
                "jit.unknown-default-device",
                variable=settings.DEVICE.name,
                problem=error.said,
                advice=error.said.params["advice"],
            ) from None
    index = wanted.removeprefix("cuda").removeprefix(":") or "0"
    variable, name = settings.DEVICE.name, settings.DEVICE.value
    if not index.isdigit():
        raise FlashpathError("jit.default-device-number", variable=variable, name=name)
    if name and not count():
        raise MissingDevice("jit.no-gpu-here", variable=variable, name=name)
    return device(int(index)).arch if count() else "sm_80"
