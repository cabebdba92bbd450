"""Where a program is to run: on a GPU of this machine, or on the virtual one, playing a named GPU."""

from __future__ import annotations

from dataclasses import dataclass

from flashpath import gpus, settings
from flashpath.errors import FlashpathError, MissingDevice
from flashpath.jit import device as cuda
from flashpath.vgpu.profiles import profile_for

DEFAULT_ARCH = "sm_80"


@dataclass(frozen=True)
class Target:
    """The architecture to compile for, and the GPU that is played; None: a real one."""

    arch: str
    gpu: gpus.Gpu | None
    index: int = 0  # of the real GPU

    @property
    def is_virtual(self) -> bool:
        return self.gpu is not None


def choose_target(device: str | None = None, arch: str | None = None) -> Target:
    """The target of that name: `cuda`, `cuda:1`, `virtual`, or a GPU's, such as H200.

    Without a name FLASHPATH_DEVICE decides, and without that a GPU is taken where there is one. The
    architecture is the GPU's own unless another is named.
    """
    if arch is not None:
        gpus.parse_arch(arch)
    said = "--device" if device else settings.DEVICE.name
    name = device or settings.DEVICE.value
    if name is None:
        name = "cuda" if cuda.count() else "virtual"
    if name.lower() == "virtual":
        wanted = arch or DEFAULT_ARCH
        return Target(wanted, profile_for(wanted, "virtual"))
    if name.lower().startswith("cuda"):
        return _cuda(name, said, arch)
    try:
        gpu = gpus.gpu(name)
    except FlashpathError as error:
        told = {"problem": error.said, "known": error.said.params["advice"]}
        raise FlashpathError("jit.unknown-device", variable=said, name=name, **told) from None
    return Target(arch or _plain_arch(gpu.capability), gpu)


def _cuda(name: str, said: str, arch: str | None) -> Target:
    index = name.lower().removeprefix("cuda").removeprefix(":") or "0"
    if not index.isdecimal():
        raise FlashpathError("jit.device-number", variable=said, name=name)
    if not cuda.count():
        raise MissingDevice("jit.no-gpu-for-program", variable=said, name=name)
    found = cuda.device(int(index))
    return Target(arch or _plain_arch(found.capability), None, found.index)


def _plain_arch(capability: tuple[int, int]) -> str:
    """Returns the name that nvcc's users write; what one chip alone has (sm_90a) is asked for with `arch`."""
    return f"sm_{capability[0]}{capability[1]}"
