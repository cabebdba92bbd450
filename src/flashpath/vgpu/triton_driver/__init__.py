"""Triton, unchanged, on the virtual GPU.

Triton compiles a kernel to PTX with no GPU; only its driver needs one. While a `TritonGpu` is on, Triton's
driver is ours: kernels run from their PTX on the memory of CPU tensors, and `kernel[grid](…)`, `warmup`,
autotuning and device properties work as on a GPU. The way of a launch:

    gpu.py         what the user holds: which GPU is played, switched on and off, its reports
    driver.py      what Triton asks of a driver: target, device, properties, machine code
    parts.py       what is used of Triton
    launcher.py    one compiled kernel: its launches
    arguments.py   Triton's arguments → the bytes of the kernel's parameters, and the memory they point to
    tuning.py      choosing between configurations by counted cost, since there is no clock
"""

from __future__ import annotations

import importlib.util

from flashpath.errors import FlashpathError

if importlib.util.find_spec("triton") is None:
    raise FlashpathError("vgpu.no-triton")

from flashpath.vgpu.triton_driver.gpu import (
    TritonGpu,
    disable_triton,
    enable_triton,
    profile,
    sanitize,
    triton,
    watched,
)
from flashpath.vgpu.triton_driver.launcher import active_driver, show_launches

__all__ = [
    "TritonGpu",
    "active_driver",
    "disable_triton",
    "enable_triton",
    "profile",
    "sanitize",
    "show_launches",
    "triton",
    "watched",
]
