"""Compiles a library's C++: any C++17 compiler will do, and no CUDA toolkit is needed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from flashpath import settings
from flashpath.errors import FlashpathError
from flashpath.jit import toolkit
from flashpath.jit.export.library import Function
from flashpath.jit.export.writing import write

_FLAGS = (
    "-std=c++17",
    "-O2",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    # So that it runs beside any other C++ library: its own one is inside, and seen by nobody else.
    "-static-libstdc++",
    "-static-libgcc",
    "-Wl,--version-script=exports.map",
    "-Wl,-z,defs",
)


def build(function: Function, path: str | Path) -> Path:
    """Writes the library, into a new folder if need be; a file is replaced when the new one is whole."""
    to = settings.expanded(path).resolve()
    compiler = _compiler()
    with tempfile.TemporaryDirectory(prefix="flashpath-export-") as folder:
        file = write(function, Path(folder))
        (Path(folder) / "exports.map").write_text("{ global: __tvm_ffi_*; local: *; };\n", encoding="utf-8")
        made = Path(folder) / "library.so"
        command = [str(compiler), *_FLAGS, file.name, "-o", made.name, "-ldl"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise FlashpathError("jit.export.does-not-compile", compiler=str(compiler), output=done.stderr)
        to.parent.mkdir(parents=True, exist_ok=True)
        # Into its folder first, since only within one file system is a file replaced at once.
        with tempfile.NamedTemporaryFile(dir=to.parent, prefix=f".{to.name}.", delete=False) as beside:
            beside.write(made.read_bytes())
        Path(beside.name).chmod(0o755 & ~_umask())
        Path(beside.name).replace(to)
    return to


def _compiler() -> Path:
    try:
        return toolkit.host_compiler_path()
    except toolkit.MissingCompiler:
        raise toolkit.MissingCompiler("jit.export.no-compiler") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
