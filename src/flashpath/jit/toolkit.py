"""Finds what compiles: CUDA headers, nvcc, ptxas and the disassemblers, in wheels or in a toolkit.

The pip wheels come first, so that a result does not depend on which toolkit happens to be installed.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from flashpath.errors import FlashpathError


class MissingCompiler(FlashpathError):
    """A compiler, or a part of one, is not on this machine."""


@dataclass(frozen=True)
class Headers:
    """The folders of CUDA's own headers, and the version that stands for their content."""

    folders: tuple[Path, ...]
    version: str


@dataclass(frozen=True)
class Nvcc:
    """An nvcc with the ptxas beside it, which is sure to accept the PTX that this nvcc writes."""

    path: Path
    ptxas: Path

    @functools.cached_property
    def version(self) -> str:
        """The release, such as 13.0.88; nvcc is asked when it is first needed."""
        import subprocess

        text = subprocess.run([self.path, "--version"], capture_output=True, text=True, check=True).stdout
        found = re.search(r"V(\d+\.\d+\.\d+)", text)
        return found.group(1) if found else text.strip()

    @property
    def libraries(self) -> Path | None:
        """The folder of the wheels' libraries, where their nvcc does not look; None for a toolkit."""
        folder = self.path.parent.parent / "lib"
        return folder if (folder / "libcudart_static.a").is_file() else None


def _site_packages_roots() -> list[Path]:
    """The `nvidia/cu13` folders that NVIDIA's wheels share."""
    spec = importlib.util.find_spec("nvidia")
    if spec is None or spec.submodule_search_locations is None:
        return []
    return [Path(place) / "cu13" for place in spec.submodule_search_locations]


def _toolkit_roots() -> list[Path]:
    roots = [Path(os.environ[name]) for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    if nvcc := shutil.which("nvcc"):
        roots.append(Path(nvcc).resolve().parent.parent)
    return [*roots, Path("/usr/local/cuda")]


# One header of each wheel that kernels include: a root that lacks one would fail half-way through a source.
_HEADER_OF_PACKAGE = {
    "nvidia-cuda-runtime": "cuda_fp16.h",
    "nvidia-cuda-crt": "crt/mma.h",
    "nvidia-cuda-cccl": "cccl/cuda/std/type_traits",
}


@functools.cache
def headers() -> Headers:
    """CUDA's headers: the first complete set, wheels before toolkits."""
    roots = [root / "include" for root in [*_site_packages_roots(), *_toolkit_roots()]]
    for folder in roots:
        if all((folder / header).is_file() for header in _HEADER_OF_PACKAGE.values()):
            return Headers((folder, folder / "cccl"), _headers_version(folder))
    packages = " ".join(f"'{package}==13.0.*'" for package in _HEADER_OF_PACKAGE)
    raise MissingCompiler("jit.no-headers", packages=packages)


def _headers_version(folder: Path) -> str:
    def defined(header: str, macro: str) -> str:
        text = (folder / header).read_text(encoding="utf-8", errors="replace")
        found = re.search(rf"#\s*define\s+{macro}\s+(\d+)", text)
        return found.group(1) if found else "?"

    runtime = defined("cuda_runtime_api.h", "CUDART_VERSION")
    cccl = defined("cccl/cuda/std/__cccl/version.h", "CCCL_VERSION")
    # Patch releases share CUDART_VERSION; the size of the header that changes most tells them apart.
    return f"cuda {runtime}, cccl {cccl}, {(folder / 'cuda_fp16.hpp').stat().st_size}"


_HOST_HEADERS = ("/usr/include/", "/usr/lib/")  # what nvcc takes from the host's compiler


def header_name(file: str) -> str | None:
    """Returns the `#include` name of a header of CUDA or of the host's compiler; None for any other file."""
    path = Path(os.path.normpath(file))
    folder = _header_folder(path.parent)
    if folder is not None:
        return path.relative_to(folder).as_posix().removeprefix("cccl/")
    return path.name if str(path).startswith(_HOST_HEADERS) else None


@functools.cache
def _header_folder(folder: Path) -> Path | None:
    """The folder of CUDA's headers, in whichever toolkit or wheel, that a folder is in."""
    if folder == folder.parent:
        return None
    return folder if (folder / "cuda_runtime_api.h").is_file() else _header_folder(folder.parent)


@functools.cache
def nvcc() -> Nvcc:
    """nvcc from PATH, a toolkit, or the `nvcc` extra."""
    for root in [*_toolkit_roots(), *_site_packages_roots()]:
        path = root / "bin" / "nvcc"
        if os.access(path, os.X_OK) and os.access(path.with_name("ptxas"), os.X_OK):
            return Nvcc(path, path.with_name("ptxas"))
    raise MissingCompiler("jit.no-nvcc")


@functools.cache
def host_compiler() -> tuple[Path, str]:
    """The C++ compiler that nvcc calls, and the first line of its `--version`."""
    import subprocess

    path = host_compiler_path()
    output = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return path, output.partition("\n")[0]


def host_compiler_path() -> Path:
    """The C++ compiler that nvcc calls."""
    for name in (os.environ.get("NVCC_CCBIN"), os.environ.get("CXX"), "g++", "clang++"):
        if name and (path := shutil.which(name)):
            return Path(path)
    raise MissingCompiler("jit.no-host-compiler")


@functools.cache
def disassembler() -> Path | None:
    """cuobjdump."""
    return program("cuobjdump")


@functools.cache
def line_disassembler() -> Path | None:
    """nvdisasm, which knows the lines of the source."""
    return program("nvdisasm")


def program(name: str) -> Path | None:
    """A program on PATH, in a toolkit, in NVIDIA's wheels, or among those that triton's wheel bundles."""
    if there := shutil.which(name):
        return Path(there)
    folders = [root / "bin" for root in [*_toolkit_roots(), *_site_packages_roots()]]
    triton = importlib.util.find_spec("triton")
    if triton is not None and triton.origin is not None:
        folders.append(Path(triton.origin).parent / "backends" / "nvidia" / "bin")
    return next((folder / name for folder in folders if os.access(folder / name, os.X_OK)), None)
