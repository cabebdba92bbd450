"""Python, torch and the packages around it, from their metadata: importing torch takes seconds."""

from __future__ import annotations

import ast
import platform
import sys

from flashpath.cli.doctor import find, fixes
from flashpath.cli.doctor.check import Answer, missing, ok, warn
from flashpath.cli.doctor.gpu import MIN_CAPABILITY
from flashpath.jit import device as devices

MIN_PYTHON = (3, 11)
MIN_TORCH = (2, 9)
TORCH = "torch>=2.9,<2.14"
TRITON = "triton>=3.5,<3.8"
MIN_FLASH_ATTN_CUDA = (11, 8)


def python() -> Answer:
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info[:2] >= MIN_PYTHON:
        return ok(found)
    names = {"apt-get": "python3.12-venv", "dnf": "python3.12", "brew": "python@3.12"}
    return warn(found, fixes.system(names, "uv venv --python 3.12"))


def torch() -> Answer:
    version = find.distribution("torch")
    if version is None:
        return missing("not installed", fixes.pip(TORCH))
    if find.number(version) < MIN_TORCH:
        return warn(f"{version}, too old", fixes.pip("--upgrade", TORCH))
    cuda = torch_cuda()
    if cuda is not None:
        return ok(f"{version}, built for CUDA {cuda}")
    if devices.count():
        return warn(
            f"{version}, built without CUDA",
            fixes.pip("--force-reinstall", TORCH, "--index-url", "https://download.pytorch.org/whl/cu130"),
            matters="This machine's GPU: a torch without CUDA cannot hold tensors on it.",
        )
    return ok(f"{version}, built without CUDA (there is no GPU here that would need it)")


def torch_cuda() -> str | None:
    """The CUDA version torch was built for: `cuda` in torch/version.py, read rather than imported."""
    folder = find.package_folder("torch")
    if folder is None:
        return None
    for node in ast.parse((folder / "version.py").read_text(encoding="utf-8")).body:
        match node:
            case ast.AnnAssign(target=ast.Name("cuda"), value=ast.Constant(str(version))):
                return version
            case ast.Assign(targets=[ast.Name("cuda")], value=ast.Constant(str(version))):
                return version
            case _:
                pass
    return None


def triton() -> Answer:
    if version := find.distribution("triton"):
        return ok(version)
    if sys.platform != "linux":
        return missing(f"not made for {sys.platform}")
    return missing("not installed", fixes.pip(TRITON))


def flash_attn() -> Answer:
    if version := find.distribution("flash-attn"):
        return ok(version)
    wants = f"not installed; it wants a GPU of compute capability >= {_dotted(MIN_CAPABILITY)}"
    wants += f", CUDA >= {_dotted(MIN_FLASH_ATTN_CUDA)}, PyTorch >= 2.0"
    fix = fixes.pip("flash-attn", "--no-build-isolation")
    cuda = torch_cuda()
    able = devices.count() and all(device.capability >= MIN_CAPABILITY for device in devices.devices())
    if able and cuda is not None and find.number(cuda) >= MIN_FLASH_ATTN_CUDA:
        return missing("not installed", fix)
    return missing(f"{wants}; there: {fix}")


def flashinfer() -> Answer:
    if version := find.distribution("flashinfer-python"):
        return ok(version)
    fix = fixes.pip("flashpath[peers]")
    if devices.count():
        return missing("not installed", fix)
    return missing(f"not installed; it needs a GPU; there: {fix}")


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
