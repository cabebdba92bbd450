"""NVRTC: CUDA C++ to PTX inside this process, with no toolkit, no driver and no GPU."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flashpath.jit.toolkit import MissingCompiler


def _bindings() -> Any:
    try:
        return importlib.import_module("cuda.bindings.nvrtc")
    except ImportError as error:
        raise MissingCompiler("jit.no-nvrtc", error=str(error)) from None


@functools.cache
def version() -> str:
    """The release of the NVRTC library that was found."""
    try:
        status, major, minor = _bindings().nvrtcVersion()
    except RuntimeError as error:  # the library itself is not there
        raise MissingCompiler("jit.no-nvrtc-library", error=str(error)) from None
    if int(status) != 0:
        raise MissingCompiler("jit.nvrtc-does-not-answer", status=str(status))
    return f"{major}.{minor}"


# A source given as a string is in no folder: without one, NVRTC would look for its quoted includes in the
# working folder, and the result would depend on where Python was started.
_NO_FOLDER = Path("/flashpath/source-is-a-string")


def compile_to_ptx(text: str, name: str, flags: Sequence[str], before: str = "") -> tuple[str | None, str]:
    """Compile; returns the PTX (None where it failed) and the log. Text `before` the source has no lines."""
    nvrtc = _bindings()

    def checked(result: tuple[Any, ...]) -> Any:
        if int(result[0]) != 0:
            raise RuntimeError(f"NVRTC: {result[0].name}")
        return result[1] if len(result) > 1 else None

    place = _NO_FOLDER / name  # an absolute name stays as it is
    text = f'{before}#line 1 "{name}"\n{text}'
    program = checked(nvrtc.nvrtcCreateProgram(text.encode(), str(place).encode(), 0, [], []))
    try:
        (status,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])
        log = bytes(checked(nvrtc.nvrtcGetProgramLogSize(program)))
        checked(nvrtc.nvrtcGetProgramLog(program, log))
        log_text = log.rstrip(b"\0").decode("utf-8", errors="replace").strip().replace(str(place), name)
        if int(status) != 0:
            return None, log_text or status.name
        ptx = bytes(checked(nvrtc.nvrtcGetPTXSize(program)))
        checked(nvrtc.nvrtcGetPTX(program, ptx))
        # NVRTC puts the working folder before relative names: the result must not depend on it.
        return ptx.rstrip(b"\0").decode().replace(f'"{Path.cwd() / name}"', f'"{name}"'), log_text
    finally:
        nvrtc.nvrtcDestroyProgram(program)
