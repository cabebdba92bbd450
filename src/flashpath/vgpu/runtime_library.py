"""The library that answers the CUDA runtime API for whole programs, and what it is told of its GPU."""

from __future__ import annotations

import ctypes
import dataclasses
import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path

from flashpath import gpus
from flashpath.errors import FlashpathError
from flashpath.gpus.shape import MAX_BLOCK, MAX_GRID
from flashpath.messages import Text, catalogue, spoken

NAME = "flashpath_cudart"
ABI = 1
"""Raised when a program that was linked with an older library must be linked again."""


class RuntimeNotBuilt(FlashpathError):
    """The runtime library is not beside this package."""


def folder() -> Path:
    """The folder to link against and to run from; the loader takes the variant for its processor from it."""
    for place in _places():
        if (place / f"lib{NAME}.so").is_file():
            return place
    beside = next(_places()) / f"lib{NAME}.so"
    raise RuntimeNotBuilt("vgpu.runtime-not-built", path=str(beside))


def _places() -> Iterator[Path]:
    yield Path(__file__).parent / "lib"
    # What is compiled for an editable install is not among the sources, but beside the compiled modules.
    engine = importlib.util.find_spec("flashpath.vgpu._engine")
    if engine is not None and engine.origin is not None:
        yield Path(engine.origin).parent / "lib"


def unavailable() -> list[str]:
    """The functions of CUDA's header that are there only to say what to use instead."""
    library = ctypes.CDLL(str(folder() / f"lib{NAME}.so"))
    names = ctypes.addressof(ctypes.c_char.in_dll(library, "__cudaUnavailable"))
    return ctypes.string_at(names).decode().split()


def settings(gpu: gpus.Gpu, options: Mapping[str, object]) -> str:
    """The text of the variable: the GPU's figures and the options of this run, one `key=value` a line."""
    limits = gpu.architecture
    values: dict[str, object] = {
        "gpu": gpu.name,
        "device_name": gpu.driver_names[0],
        "major": limits.major,
        "minor": limits.minor,
        "sm_count": gpu.sm_count,
        "clock_mhz": gpu.boost_clock_mhz,
        "memory_bytes": gpu.driver_memory_bytes or round(gpu.memory_gb * 1e9),
        "memory_bytes_per_s": gpu.memory_bandwidth_gb_per_s * 1e9,
        "memory_bus_bits": gpu.memory_bus_bits,
        "memory_clock_khz": _memory_clock_khz(gpu),
        "ecc": gpu.ecc,
        "l2_bytes": round(gpu.l2_mib * 2**20),
        "persisting_l2_sixteenths": limits.persisting_l2_sixteenths or 0,
        "access_policy_window": (limits.access_policy_window_mib or 0) * 2**20,
        "link_bytes_per_s": gpu.host_link_gb_per_s * 1e9,
        "max_grid": ",".join(map(str, MAX_GRID)),
        "max_block": ",".join(map(str, MAX_BLOCK)),
        "max_threads_per_block": limits.max_threads_per_block,
        "max_warps_per_sm": limits.max_warps_per_sm,
        "max_blocks_per_sm": limits.max_blocks_per_sm,
        "registers_per_sm": limits.registers_per_sm,
        "max_registers_per_thread": limits.max_registers_per_thread,
        "register_allocation_unit": limits.register_allocation_unit,
        "warp_allocation_granularity": limits.warp_allocation_granularity,
        "max_shared_per_sm": limits.max_shared_per_sm_bytes,
        "shared_splits": ",".join(str(kib * 1024) for kib in limits.shared_splits_kib),
        "max_shared_per_block": limits.max_shared_per_block_bytes,
        "reserved_shared_per_block": limits.reserved_shared_per_block_bytes,
        "shared_allocation_unit": limits.shared_allocation_unit_bytes,
        "devices": 1,
    }
    for name, tflops in dataclasses.asdict(gpu.peak_tflops).items():
        if tflops is not None:
            values[f"peak_{name}"] = tflops * 1e12
    values |= {name: value for name, value in options.items() if value is not None}
    values |= {f"says {code}": text.in_(spoken()) for code, text in _sentences()}
    return "\n".join(f"{name}={_written(value)}" for name, value in values.items())


def _sentences() -> Iterator[tuple[str, Text]]:
    """Returns what the program may say on stderr, by its code."""
    for room in ("vgpu", "vgpu.ptx"):
        for key, entry in catalogue(room).items():
            if isinstance(entry, Text) and "\n" not in entry.en:
                yield f"{room}.{key}", entry


def _memory_clock_khz(gpu: gpus.Gpu) -> int:
    """Returns the clock of the driver, or one whose product with the bus gives the bandwidth."""
    if gpu.memory_clock_mhz is not None:
        return gpu.memory_clock_mhz * 1000
    bytes_per_cycle = 2 * gpu.memory_bus_bits / 8  # two transfers a cycle
    return int(gpu.memory_bandwidth_gb_per_s * 1e6 / bytes_per_cycle)


def _written(value: object) -> str:
    text = str(int(value)) if isinstance(value, bool) else str(value)
    if "\n" in text:
        raise FlashpathError("vgpu.line-break-in-path", path=text)
    return text
