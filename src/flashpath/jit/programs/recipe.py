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
        raise toolkit.MissingCompiler(error.problem, "pip install 'flashpath[nvcc]'") from None


# So that a program finds the ladders' device code: #include <flashpath/kernels/matmul/naive.cu>.
LADDERS = Path(__file__).parents[3]


def _identity(tool: Path) -> list[Any]:
    """What tells one release of a compiler from another without starting it."""
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
        raise ProgramNotFound("No file was given.", "Name a .cu file.")
    if len({file.resolve() for file in sources}) < len(sources):
        raise ProgramNotFound("A file was given twice.", "Name each file once.")
    flags = [f"-D{each}" for each in defines]
    flags += [f"-I{each}" for each in includes]
    flags += [f"-std={std}"] if std else []
    flags += [f"-O{optimize}"] if optimize else []
    flags += [*options, f"-I{LADDERS}"]
    link_flags = [f"-L{each}" for each in library_folders]
    link_flags += [f"-l{each}" for each in libraries]
    return Recipe(sources, target, tuple(flags), tuple(link_flags), Path.cwd(), checked)


def _checked(file: Path) -> Path:
    if file.is_dir():
        there = sorted(each.name for each in file.glob(f"*{DEVICE_SUFFIX}"))
        fix = f"Name a file in it: {', '.join(there[:5])}." if there else "Name a .cu file."
        raise ProgramNotFound(f"{file} is a folder, not a CUDA program.", fix)
    if not file.exists():
        raise _not_found(file)
    if file.suffix not in SUFFIXES:
        raise ProgramNotFound(f"{file} is no CUDA C++ source.", _wrong_suffix(file))
    try:
        text = file.read_bytes()
    except OSError as error:
        raise ProgramNotFound(f"{file} cannot be read: {error.strerror}.", "Check its permissions.") from None
    if not text.strip():
        raise ProgramNotFound(f"{file} is empty.", "Write a program with main() in it.")
    return file


def _not_found(file: Path) -> ProgramNotFound:
    if not file.parent.is_dir():
        return ProgramNotFound(f"{file} does not exist; neither does its folder.", "Check the path.")
    there = sorted(each.name for each in file.parent.iterdir() if each.suffix in SUFFIXES)
    near = difflib.get_close_matches(file.name, there, n=3)
    if near:
        fix = f"Did you mean {' or '.join(near)}?"
    elif file.suffix in SUFFIXES:
        fix = "Check the path."
    else:
        fix = "If it is meant for the program, write it after --: flashpath run FILE.cu -- ARGUMENTS."
    return ProgramNotFound(f"{file} does not exist.", fix)


def _wrong_suffix(file: Path) -> str:
    if file.suffix in _HEADERS:
        return "It is a header: name the .cu file that includes it."
    if file.suffix == ".py":
        return f"Run it with Python: python {file}."
    if file.suffix in (".o", ".a", ".so"):
        return "Name its sources; a library is linked with -l NAME -L FOLDER."
    return f"Sources end in {', '.join(SUFFIXES)}; what is meant for the program stands after --."
