"""What turns source into PTX and machine code."""

from __future__ import annotations

import importlib
import re
import sys
from typing import Any

from flashpath.cli.doctor import fixes
from flashpath.cli.doctor.check import Answer, missing, ok
from flashpath.jit import toolkit
from flashpath.jit.toolkit import MissingCompiler
from flashpath.messages import say

HEADERS = ("nvidia-cuda-runtime==13.0.*", "nvidia-cuda-crt==13.0.*", "nvidia-cuda-cccl==13.0.*")
BINDINGS = "cuda-bindings>=13.0,<14"


def nvrtc() -> Answer:
    try:
        bindings: Any = importlib.import_module("cuda.bindings.nvrtc")
        _, major, minor = bindings.nvrtcVersion()
    except ImportError as error:
        return missing(str(error), fixes.pip(BINDINGS))
    except RuntimeError as error:  # the bindings are there, the library is not
        return missing(_first_line(error), fixes.pip("nvidia-cuda-nvrtc==13.0.*"))
    return ok(f"{major}.{minor}")


def nvjitlink() -> Answer:
    try:
        bindings: Any = importlib.import_module("cuda.bindings.nvjitlink")
        major, minor = bindings.version()
    except ImportError as error:
        return missing(str(error), fixes.pip(BINDINGS))
    except RuntimeError as error:
        return missing(_first_line(error), fixes.pip("nvidia-nvjitlink==13.0.*"))
    return ok(f"{major}.{minor}")


def cuda_headers() -> Answer:
    try:
        found = toolkit.headers()
    except MissingCompiler as error:
        return missing(error.problem, fixes.pip(*HEADERS))
    version = re.search(r"cuda (\d+)", found.version)
    release = f"CUDA {int(version[1]) // 1000}.{int(version[1]) % 1000 // 10}, " if version else ""
    return ok(f"{release}{found.folders[0]}")


def nvcc() -> Answer:
    try:
        found = toolkit.nvcc()
    except MissingCompiler as error:
        return missing(error.problem, fixes.pip("flashpath[nvcc]"))
    return ok(f"{found.version}, {found.path}")


def host_compiler() -> Answer:
    try:
        path, version = toolkit.host_compiler()
    except MissingCompiler as error:
        packages = {"apt-get": "g++", "dnf": "gcc-c++", "zypper": "gcc-c++", "pacman": "gcc", "apk": "g++"}
        otherwise = (
            "xcode-select --install"
            if sys.platform == "darwin"
            else say("cli.doctor.see", page="https://gcc.gnu.org/install")
        )
        return missing(error.problem, fixes.system(packages, otherwise))
    return ok(f"{version}, {path}")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
