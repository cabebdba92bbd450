"""What turns source into PTX and machine code."""

from __future__ import annotations

import importlib
import os
import re
import shutil
from typing import Any

from flashpath.cli.doctor import find, fixes
from flashpath.cli.doctor.check import Answer, missing, ok

# One header of each wheel that kernels include.
HEADERS = {
    "cuda_fp16.h": "nvidia-cuda-runtime==13.0.*",
    "crt/mma.h": "nvidia-cuda-crt==13.0.*",
    "cccl/cuda/std/type_traits": "nvidia-cuda-cccl==13.0.*",
}
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
    folder = find.cuda_headers(*HEADERS)
    if folder is None:
        return missing(f"no folder holds {', '.join(HEADERS)}", fixes.pip(*HEADERS.values()))
    text = (folder / "cuda_runtime_api.h").read_text(encoding="utf-8", errors="replace")
    version = re.search(r"#define\s+CUDART_VERSION\s+(\d+)", text)
    release = f"CUDA {int(version[1]) // 1000}.{int(version[1]) % 1000 // 10}, " if version else ""
    return ok(f"{release}{folder}")


def nvcc() -> Answer:
    path = find.program("nvcc")
    if path is None:
        return missing(
            "neither on PATH, nor in a CUDA toolkit, nor as a pip package", fixes.pip("flashpath[nvcc]")
        )
    found = re.search(r"V(\d+\.\d+\.\d+)", find.output(path, "--version"))
    return ok(f"{found[1] if found else 'version unknown'}, {path}")


def host_compiler() -> Answer:
    names = (os.environ.get("NVCC_CCBIN"), os.environ.get("CXX"), "g++", "clang++", "c++")
    path = next((found for name in names if name and (found := shutil.which(name))), None)
    if path is None:
        packages = {"apt-get": "g++", "dnf": "gcc-c++", "zypper": "gcc-c++", "pacman": "gcc", "apk": "g++"}
        return missing("neither g++ nor clang++ is on PATH", fixes.system(packages, "xcode-select --install"))
    return ok(f"{find.output(path, '--version').partition(chr(10))[0]}, {path}")


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
