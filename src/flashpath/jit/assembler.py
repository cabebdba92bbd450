"""nvJitLink's ptxas: PTX to cubin inside this process, with no driver and no GPU."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

from flashpath.jit.toolkit import MissingCompiler


def _bindings() -> Any:
    try:
        return importlib.import_module("cuda.bindings.nvjitlink")
    except ImportError as error:
        raise MissingCompiler("jit.no-nvjitlink", error=str(error)) from None


@functools.cache
def version() -> str:
    """The release of the nvJitLink library that was found."""
    try:
        major, minor = _bindings().version()
    except RuntimeError as error:
        raise MissingCompiler("jit.no-nvjitlink-library", error=str(error)) from None
    return f"{major}.{minor}"


def assemble(ptx: str, arch: str, flags: Sequence[str]) -> tuple[bytes | None, str]:
    """The cubin (None where ptxas refused the PTX) and the log, which tells registers and spills."""
    linker = _bindings()
    # Its own cache, which it has where a driver is, would answer without the report of registers and spills.
    options = [f"-arch={arch}", "-no-cache", "-Xptxas=-v", "-lineinfo", *flags]
    handle = linker.create(len(options), options)
    try:
        try:
            code = ptx.encode()
            linker.add_data(handle, linker.InputType.PTX, code, len(code), "kernel.ptx")
            linker.complete(handle)
        except linker.nvJitLinkError:
            return None, _text(linker.get_error_log_size, linker.get_error_log, handle)
        cubin = bytearray(linker.get_linked_cubin_size(handle))
        linker.get_linked_cubin(handle, cubin)
        return bytes(cubin), _text(linker.get_info_log_size, linker.get_info_log, handle)
    finally:
        linker.destroy(handle)


def _text(size: Any, read: Any, handle: Any) -> str:
    buffer = bytearray(size(handle))
    read(handle, buffer)
    return bytes(buffer).rstrip(b"\0").decode("utf-8", errors="replace").strip()
