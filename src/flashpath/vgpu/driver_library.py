"""CUDA's driver on the virtual GPU, as far as exported libraries need it: in a process that has no GPU."""

from __future__ import annotations

import ctypes
import os

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.gpus import Gpu
from flashpath.vgpu import runtime_library
from flashpath.vgpu.profiles import profile_for

NAME = "flashpath_cuda"
_loaded: list[Gpu] = []


def driver(device: str | None = None) -> None:
    """Lets this process run the libraries that `fp.export` has written on a virtual GPU.

    It holds until the process ends: a library asks for a driver once. Arrays are those of the CPU.
    """
    gpu = profile_for("sm_80", device)
    if _loaded:
        if _loaded[0] != gpu:
            raise FlashpathError("vgpu.driver-loaded", loaded=_loaded[0].name, wanted=gpu.name)
        return
    library = runtime_library.folder() / f"lib{NAME}.so"
    if not library.is_file():
        raise runtime_library.RuntimeNotBuilt("vgpu.runtime-not-built", path=str(library))
    variable = settings.RUNTIME.name
    before = os.environ.get(variable)
    os.environ[variable] = runtime_library.settings(gpu, {})
    try:
        found = ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
        found.cuInit(0)  # now it reads what it is told
    finally:
        if before is None:
            del os.environ[variable]
        else:
            os.environ[variable] = before
    _loaded.append(gpu)
