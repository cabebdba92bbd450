"""Python, torch and the packages around it, from their metadata: importing torch takes seconds."""

from __future__ import annotations

import ast
import platform
import sys

from flashpath.cli.doctor import find, fixes
from flashpath.cli.doctor.check import Answer, missing, ok, warn
from flashpath.jit import device as devices
from flashpath.messages import say

MIN_PYTHON = (3, 11)
MIN_TORCH = (2, 9)
TORCH = "torch>=2.9,<2.14"
TRITON = "triton>=3.5,<3.8"
MIN_FLASH_ATTN_CUDA = (11, 8)
MIN_FLASH_ATTN_CAPABILITY = (8, 0)  # Ampere


def python() -> Answer:
    found = say("cli.doctor.python", version=platform.python_version(), path=sys.executable)
    if sys.version_info[:2] >= MIN_PYTHON:
        return ok(found)
    names = {"apt-get": "python3.12-venv", "dnf": "python3.12", "brew": "python@3.12"}
    return warn(found, fixes.system(names, "uv venv --python 3.12"))


def torch() -> Answer:
    version = find.distribution("torch")
    if version is None:
        return missing(say("cli.doctor.not-installed"), fixes.pip(TORCH))
    if find.number(version) < MIN_TORCH:
        return warn(say("cli.doctor.too-old", version=version), fixes.pip("--upgrade", TORCH))
    cuda = torch_cuda()
    if cuda is not None:
        return ok(say("cli.doctor.torch-cuda", version=version, cuda=cuda))
    if devices.count():
        return warn(
            say("cli.doctor.torch-cpu", version=version),
            fixes.pip("--force-reinstall", TORCH, "--index-url", "https://download.pytorch.org/whl/cu130"),
            matters=say("cli.doctor.torch-needs-cuda"),
        )
    return ok(say("cli.doctor.torch-cpu-fine", version=version))


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
        return missing(say("cli.doctor.triton-platform", platform=sys.platform))
    return missing(say("cli.doctor.not-installed"), fixes.pip(TRITON))


def flash_attn() -> Answer:
    if version := find.distribution("flash-attn"):
        return ok(version)
    fix = fixes.pip("flash-attn", "--no-build-isolation")
    cuda = torch_cuda()
    able = devices.count() and all(
        device.capability >= MIN_FLASH_ATTN_CAPABILITY for device in devices.devices()
    )
    if able and cuda is not None and find.number(cuda) >= MIN_FLASH_ATTN_CUDA:
        return missing(say("cli.doctor.not-installed"), fix)
    return missing(
        say(
            "cli.doctor.flash-attn-wants",
            capability=_dotted(MIN_FLASH_ATTN_CAPABILITY),
            cuda=_dotted(MIN_FLASH_ATTN_CUDA),
            fix=fix,
        )
    )


def flashinfer() -> Answer:
    if version := find.distribution("flashinfer-python"):
        return ok(version)
    fix = fixes.pip("flashpath[peers]")
    if devices.count():
        return missing(say("cli.doctor.not-installed"), fix)
    return missing(say("cli.doctor.needs-gpu", fix=fix))


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
