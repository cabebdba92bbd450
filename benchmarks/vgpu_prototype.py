"""A measured prototype of the same design, built and timed beside the virtual GPU by benchmarks/vgpu.py.

The prototype is a folder that holds `proto/d_interp.cpp` and `proto/d_run.py`. It knows only the PTX that
nvcc writes, in which shared memory has 32-bit addresses.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from vgpu_workloads import ARCH, Workload

import flashpath as fp
from flashpath.errors import FlashpathError

FLAGS = ("-O3", "-march=x86-64-v3", "-ffp-contract=off", "-shared", "-fPIC", "-std=c++17")


class Prototype:
    """The prototype, built in a folder of ours."""

    def __init__(self, source: Path, folder: Path) -> None:
        if not (source / "proto" / "d_interp.cpp").is_file():
            raise FlashpathError(
                f"{source} holds no prototype.", "Name the folder that holds proto/d_interp.cpp."
            )
        shutil.copytree(source / "proto", folder / "proto")
        target = folder / "proto" / "d_interp.so"
        subprocess.run(
            ["g++", *FLAGS, "-o", str(target), str(folder / "proto" / "d_interp.cpp")],
            check=True,
            timeout=600,
        )
        sys.path.insert(0, str(folder / "proto"))
        with contextlib.chdir(folder):  # it looks for its library under the current folder
            self.runner: Any = importlib.import_module("d_run")
            self.parser: Any = importlib.import_module("ptxparse")

    def ready(self, workload: Workload) -> tuple[Callable[[bool], None], Callable[[], Any]]:
        """A function that launches the workload, counted or not, and one that returns its output."""
        module = fp.compile(workload.file, ARCH, compiler="nvcc")
        text = re.sub(r"(?m)^\s*\.loc\b.*$", "", module.ptx)
        kernel = self.parser.parse(text).kernels[workload.kernel]
        grid, block = ((*shape, 1, 1)[:3] for shape in (workload.grid, workload.block))
        program = self.runner.Prog(kernel, block, grid)
        memory = self.runner.Mem()
        values = workload.arguments()
        arguments = [memory.put(value) if isinstance(value, np.ndarray) else value for value in values]
        output: Any = values[workload.output]

        def run(counted: bool) -> None:
            self.runner.launch(kernel, memory, grid, block, arguments, int(counted), 0, prog=program)

        return run, lambda: memory.get(arguments[workload.output], output.shape, output.dtype)
