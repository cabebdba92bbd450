"""What a program is made from: files and flags, checked, and all else that decides what nvcc writes."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flashpath.errors import FlashpathError
from flashpath.jit import toolkit
from flashpath.jit.programs.target import Target
from flashpath.messages import Message, any_of
from flashpath.vgpu import runtime_library

DEVICE_SUFFIX = ".cu"
SUFFIXES = (DEVICE_SUFFIX, ".cpp", ".cc", ".cxx", ".c")
_HEADERS = (".cuh", ".h", ".hpp", ".hh")
# Variables by which compilers are slipped flags, headers and libraries.
_SLIPPED_IN = (
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
)
_FORMAT = 1  # part of every key: raised when the same recipe is cooked in another way


class ProgramNotFound(FlashpathError):
    """A file that was to be compiled is not there, or is no source."""


@dataclass(frozen=True)
class Recipe:
    """Files as their owner wrote them: messages, `__FILE__` and line tables say the same."""

    files: tuple[Path, ...]
    target: Target
    flags: tuple[str, ...]  # for every file that is compiled
    link_flags: tuple[str, ...]
    folder: Path  # in which relative paths start, and the compilers run
    checked: bool = False  # built for the sanitizer: with lines of host code, and what drops results

    @property
    def device_files(self) -> tuple[Path, ...]:
        return tuple(file for file in self.files if file.suffix == DEVICE_SUFFIX)

    @property
    def links_devices(self) -> bool:
        """Whether device code of one file may use that of another: compiled apart, then linked."""
        asked = {"-rdc=true", "--relocatable-device-code=true"}
        return len(self.device_files) > 1 or not asked.isdisjoint(self.flags)

    @property
    def code_flags(self) -> tuple[str, ...]:
        """PTX for the virtual GPU and the driver, and beside it the cubin, with registers and spills."""
        compute = self.target.arch.replace("sm_", "compute_")
        return ("-gencode", f"arch={compute},code=[{compute},{self.target.arch}]")

    def ingredients(self) -> dict[str, Any]:
        """Everything but the content of files that decides what comes out."""
        nvcc = _nvcc()
        tools = (nvcc.path, nvcc.ptxas, toolkit.host_compiler_path())
        return {
            "program": _FORMAT,
            "files": [str(file) for file in self.files],
            "folder": str(self.folder),
            "flags": [*self.code_flags, *self.flags, "--", *self.link_flags],
            "checked": self.checked,
            "runtime": runtime_library.ABI if self.target.is_virtual else "cudart",
            "tools": [_identity(tool) for tool in tools],
            "slipped_in": [os.environ.get(name, "") for name in _SLIPPED_IN],
        }


def _nvcc() -> toolkit.Nvcc:
    try:
        return toolkit.nvcc()
    except toolkit.MissingCompiler as error:
        raise toolkit.MissingCompiler("jit.no-nvcc-for-programs", problem=error.said) from None


# So that a program finds the ladders' device code: #include <flashpath/kernels/matmul/naive.cu>.
LADDERS = Path(__file__).parents[3]


def _identity(tool: Path) -> list[Any]:
    """Returns what tells one release of a compiler from another without starting it."""
    status = tool.stat()
    return [str(tool), status.st_size, status.st_mtime_ns]


def make_recipe(
    files: Sequence[str | Path],
    target: Target,
    *,
    defines: Sequence[str] = (),
    includes: Sequence[str | Path] = (),
    std: str | None = None,
    optimize: str | None = None,
    libraries: Sequence[str] = (),
    library_folders: Sequence[str | Path] = (),
    options: Sequence[str] = (),
    checked: bool = False,
) -> Recipe:
    """Check what was given. `defines` are `NAME` or `NAME=VALUE`; `options` go to nvcc as they are.

    After the folders named, headers are looked for where `<flashpath/kernels/…>` is.

    A `checked` program is one for the sanitizer: `HostCode` tells the lines of its host code.
    """
    sources = tuple(_checked(Path(file)) for file in files)
    if not sources:
        raise ProgramNotFound("jit.no-file-given")
    if len({file.resolve() for file in sources}) < len(sources):
        raise ProgramNotFound("jit.file-twice")
    flags = [f"-D{each}" for each in defines]
    flags += [f"-I{each}" for each in includes]
    flags += [f"-std={std}"] if std else []
    flags += [f"-O{optimize}"] if optimize else []
    flags += [*options, f"-I{LADDERS}"]
    link_flags = [f"-L{each}" for each in library_folders]
    link_flags += [f"-l{each}" for each in libraries]
    return Recipe(sources, target, tuple(flags), tuple(link_flags), Path.cwd(), checked)


# nvcc hands the names of its files to a shell, between quotation marks, where these have a meaning.
_FOR_A_SHELL = set('$`"\\\n')


def _checked(file: Path) -> Path:
    if file.is_dir():
        there = sorted(each.name for each in file.glob(f"*{DEVICE_SUFFIX}"))
        advice = Message("jit.name-a-cu-file")
        if there:
            advice = Message("jit.name-a-file-in-it", {"names": there[:5]})
        raise ProgramNotFound("jit.program-is-folder", file=str(file), advice=advice)
    if not file.exists():
        raise _not_found(file)
    if _FOR_A_SHELL & set(str(file)) or str(file).startswith("-"):
        raise ProgramNotFound("jit.name-for-a-shell", file=str(file))
    if not file.is_file():
        raise ProgramNotFound("jit.no-plain-file", file=str(file))
    if file.suffix not in SUFFIXES:
        raise ProgramNotFound("jit.not-cuda-source", file=str(file), advice=_wrong_suffix(file))
    try:
        text = file.read_bytes()
    except OSError as error:
        raise ProgramNotFound("jit.file-unreadable", file=str(file), why=error.strerror) from None
    if not text.strip():
        raise ProgramNotFound("jit.file-empty", file=str(file))
    return file


def _not_found(file: Path) -> ProgramNotFound:
    if str(file).startswith("~"):  # a shell leaves it where it knows no such user
        return ProgramNotFound("messages.no-home-of", path=str(file))
    if not file.parent.is_dir():
        return ProgramNotFound("jit.program-and-folder-missing", file=str(file))
    there = sorted(each.name for each in file.parent.iterdir() if each.suffix in SUFFIXES)
    near = difflib.get_close_matches(file.name, there, n=3)
    advice = Message("jit.arguments-after-dashes")
    if near:
        advice = Message("jit.did-you-mean-file", {"near": any_of(near)})
    elif file.suffix in SUFFIXES:
        advice = Message("jit.check-the-path")
    return ProgramNotFound("jit.program-missing", file=str(file), advice=advice)


def _wrong_suffix(file: Path) -> Message:
    if file.suffix in _HEADERS:
        return Message("jit.is-a-header")
    if file.suffix == ".py":
        return Message("jit.is-python", {"file": str(file)})
    if file.suffix in (".o", ".a", ".so"):
        return Message("jit.is-compiled")
    return Message("jit.other-suffix", {"suffixes": list(SUFFIXES)})
