"""Calls exported libraries in a process of their own, where neither torch nor flashpath can be imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flashpath import gpus, settings
from flashpath.vgpu import runtime_library
from flashpath.vgpu.driver_library import NAME

# numpy and tvm_ffi are all that there is.
_ALONE = """
import sys
sys.modules["torch"] = sys.modules["flashpath"] = None
import numpy as np
import tvm_ffi

def says(function, *arguments):
    try:
        function(*arguments)
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
    return "taken"
"""


def need_tvm_ffi() -> None:
    """Skips what calls a library where TVM-FFI is not installed."""
    pytest.importorskip("tvm_ffi", reason="needs apache-tvm-ffi, which is not installed")


def need_virtual_driver() -> None:
    """Skips what runs a library without a GPU where the virtual driver was not compiled."""
    need_tvm_ffi()
    if not (runtime_library.folder() / f"lib{NAME}.so").is_file():
        pytest.skip(f"lib{NAME}.so is not built: pip install -e .")


def run_alone(script: str, *, device: str | None = None, words: str = "en") -> str:
    """What the script prints; on that virtual GPU, or where no driver is found at all."""
    variables = {**os.environ, settings.LANG.name: words}
    variables.pop(settings.RUNTIME.name, None)
    if device is not None:
        folder = str(runtime_library.folder())
        variables["LD_LIBRARY_PATH"] = f"{folder}:{variables.get('LD_LIBRARY_PATH', '')}".rstrip(":")
        variables[settings.RUNTIME.name] = runtime_library.settings(gpus.gpu(device), {})
    done = subprocess.run(
        [sys.executable, "-c", _ALONE + script],
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded(library: Path, name: str) -> str:
    """The line of a script that loads the function."""
    return f"{name} = tvm_ffi.load_module({str(library)!r}).{name}\n"
