"""GPUs as plain data and arithmetic: profiles, architecture names, occupancy and the roofline."""

from __future__ import annotations

from flashpath.gpus.arch import Arch, UnknownArch, archs, parse_arch, runs_on
from flashpath.gpus.occupancy import Occupancy, occupancy
from flashpath.gpus.profile import (
    WARP_SIZE,
    Architecture,
    Gpu,
    PeakTflops,
    architecture,
    gpu,
    gpu_for_arch,
    gpus,
    match_device_name,
)
from flashpath.gpus.roofline import Roofline, roofline

__all__ = [
    "WARP_SIZE",
    "Arch",
    "Architecture",
    "Gpu",
    "Occupancy",
    "PeakTflops",
    "Roofline",
    "UnknownArch",
    "architecture",
    "archs",
    "gpu",
    "gpu_for_arch",
    "gpus",
    "match_device_name",
    "occupancy",
    "parse_arch",
    "roofline",
    "runs_on",
]
