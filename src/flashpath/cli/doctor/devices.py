"""The GPUs as the driver describes them, read through cuda-bindings without torch and without a context."""

from __future__ import annotations

import functools
import importlib
from dataclasses import dataclass
from typing import Any


class DriverError(Exception):
    """The driver is installed and refuses."""


@dataclass(frozen=True)
class Device:
    """One GPU, in the driver's figures."""

    name: str
    capability: tuple[int, int]
    sm_count: int
    shared_per_sm_bytes: int
    l2_bytes: int
    memory_bytes: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int

    @property
    def bandwidth_gb_per_s(self) -> float:
        """Two transfers a clock over the whole bus: the figure of data sheets for HBM."""
        return 2 * self.memory_clock_khz * 1e3 * self.memory_bus_bits / 8 / 1e9


@functools.cache
def driver_version() -> tuple[int, int] | None:
    """The newest CUDA version that the driver runs; None without a driver."""
    driver = _driver()
    if driver is None:
        return None
    version: int = _call(driver, "cuDriverGetVersion")
    return version // 1000, version % 1000 // 10


@functools.cache
def devices() -> tuple[Device, ...]:
    """All GPUs that this process may see; none without a driver."""
    driver = _driver()
    if driver is None:
        return ()
    (code,) = driver.cuInit(0)
    if code == driver.CUresult.CUDA_ERROR_NO_DEVICE:
        return ()
    if code != driver.CUresult.CUDA_SUCCESS:
        raise DriverError(f"cuInit answers {code.name}")
    return tuple(_read(driver, ordinal) for ordinal in range(_call(driver, "cuDeviceGetCount")))


def has_gpu() -> bool:
    """Whether a GPU can be used; a driver in trouble is reported by the check of the driver."""
    try:
        return bool(devices())
    except DriverError:
        return False


def _driver() -> Any:
    """cuda.bindings.driver (untyped: generated code), or None where its library is not on this machine."""
    try:
        driver: Any = importlib.import_module("cuda.bindings.driver")
        driver.cuDriverGetVersion()
    except (ImportError, RuntimeError):  # RuntimeError: libcuda was not found
        return None
    return driver


def _call(driver: Any, name: str, *arguments: Any) -> Any:
    code, value = getattr(driver, name)(*arguments)
    if code != driver.CUresult.CUDA_SUCCESS:
        raise DriverError(f"{name} answers {code.name}")
    return value


def _read(driver: Any, ordinal: int) -> Device:
    handle = _call(driver, "cuDeviceGet", ordinal)
    name: bytes = _call(driver, "cuDeviceGetName", 256, handle)

    def attribute(short: str) -> int:
        kind = getattr(driver.CUdevice_attribute, f"CU_DEVICE_ATTRIBUTE_{short}")
        return _call(driver, "cuDeviceGetAttribute", kind, handle)

    return Device(
        name=name.split(b"\0")[0].decode(errors="replace"),
        capability=(attribute("COMPUTE_CAPABILITY_MAJOR"), attribute("COMPUTE_CAPABILITY_MINOR")),
        sm_count=attribute("MULTIPROCESSOR_COUNT"),
        shared_per_sm_bytes=attribute("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        l2_bytes=attribute("L2_CACHE_SIZE"),
        memory_bytes=_call(driver, "cuDeviceTotalMem", handle),
        clock_khz=attribute("CLOCK_RATE"),
        memory_clock_khz=attribute("MEMORY_CLOCK_RATE"),
        memory_bus_bits=attribute("GLOBAL_MEMORY_BUS_WIDTH"),
    )
